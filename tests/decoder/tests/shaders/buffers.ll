; SPDX-License-Identifier: GPL-2.0 OR MIT
; Fetches from two buffers at a computed place.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %x = extractelement <4 x float> %reg0, i32 0
  %i = bitcast float %x to i32
  %p = getelementptr [1024 x <4 x float>], ptr addrspace(8) null, i32 0, i32 %i
  %v = load <4 x float>, ptr addrspace(8) %p
  %p2 = getelementptr [1024 x <4 x float>], ptr addrspace(9) null, i32 0, i32 %i
  %v2 = load <4 x float>, ptr addrspace(9) %p2
  %s = fadd <4 x float> %v, %v2
  call void @llvm.r600.store.swizzle(<4 x float> %s, i32 0, i32 0)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
