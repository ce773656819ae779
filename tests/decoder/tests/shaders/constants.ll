; SPDX-License-Identifier: GPL-2.0 OR MIT
; Windows of the constant cache, signs, a dot product, a position and a parameter.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %x = extractelement <4 x float> %reg0, i32 0
  %kc = load float, ptr addrspace(8) null
  %kc1p = getelementptr [1024 x <4 x float>], ptr addrspace(8) null, i64 0, i32 37
  %kc1 = load <4 x float>, ptr addrspace(8) %kc1p
  %kcy = extractelement <4 x float> %kc1, i32 1
  %q = call float @llvm.fabs.f32(float %kcy)
  %q2 = fneg float %q
  %q3 = fmul float %q2, %kc
  %q4 = call float @llvm.floor.f32(float %q3)
  %c0 = call float @llvm.maxnum.f32(float %x, float 0.0)
  %c1 = call float @llvm.minnum.f32(float %c0, float 1.0)
  %dot = call float @llvm.r600.dot4(<4 x float> %reg0, <4 x float> %reg1)
  %v0 = insertelement <4 x float> undef, float %dot, i32 0
  %v1 = insertelement <4 x float> %v0, float %q4, i32 1
  %v2 = insertelement <4 x float> %v1, float %c1, i32 2
  %v3 = insertelement <4 x float> %v2, float 0.0, i32 3
  call void @llvm.r600.store.swizzle(<4 x float> %v3, i32 60, i32 1)
  call void @llvm.r600.store.swizzle(<4 x float> %reg1, i32 2, i32 2)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
declare float @llvm.fabs.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.r600.dot4(<4 x float>, <4 x float>)
