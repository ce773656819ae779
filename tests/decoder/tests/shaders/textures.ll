; SPDX-License-Identifier: GPL-2.0 OR MIT
; Two samples, one of them compared with a depth.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %t = call <4 x float> @llvm.r600.tex(<4 x float> %reg1, i32 0, i32 0, i32 0, i32 3, i32 2, i32 1, i32 0, i32 1, i32 1)
  %u = call <4 x float> @llvm.r600.texc(<4 x float> %reg0, i32 0, i32 0, i32 0, i32 17, i32 5, i32 1, i32 1, i32 0, i32 1)
  %s = fmul <4 x float> %t, %u
  call void @llvm.r600.store.swizzle(<4 x float> %s, i32 0, i32 0)
  ret void
}
declare <4 x float> @llvm.r600.tex(<4 x float>, i32, i32, i32, i32, i32, i32, i32, i32, i32) readnone
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
declare <4 x float> @llvm.r600.texc(<4 x float>, i32, i32, i32, i32, i32, i32, i32, i32, i32) readnone
