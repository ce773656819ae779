; SPDX-License-Identifier: GPL-2.0 OR MIT
; A face of a cube map, and pixels that are killed.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %c = call <4 x float> @llvm.r600.cube(<4 x float> %reg0)
  %x = extractelement <4 x float> %c, i32 0
  call void @llvm.r600.kill(float %x)
  call void @llvm.r600.store.swizzle(<4 x float> %c, i32 0, i32 0)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
declare <4 x float> @llvm.r600.cube(<4 x float>) readnone
declare void @llvm.r600.kill(float)
