; SPDX-License-Identifier: GPL-2.0 OR MIT
; As many operations of floats as there are.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %x = extractelement <4 x float> %reg0, i32 0
  %y = extractelement <4 x float> %reg0, i32 1
  %z = extractelement <4 x float> %reg1, i32 2
  %v1 = call float @llvm.sqrt.f32(float %x)
  %v2 = fadd float %v1, %y
  %v3 = call float @llvm.exp2.f32(float %v2)
  %v4 = fadd float %v3, %y
  %v5 = call float @llvm.log2.f32(float %v4)
  %v6 = fadd float %v5, %y
  %v7 = call float @llvm.cos.f32(float %v6)
  %v8 = fadd float %v7, %y
  %v9 = call float @llvm.ceil.f32(float %v8)
  %v10 = fadd float %v9, %y
  %v11 = call float @llvm.trunc.f32(float %v10)
  %v12 = fadd float %v11, %y
  %v13 = call float @llvm.rint.f32(float %v12)
  %v14 = fadd float %v13, %y
  %v15 = call float @llvm.fabs.f32(float %v14)
  %v16 = fadd float %v15, %y
  %v17 = call float @llvm.floor.f32(float %v16)
  %v18 = fadd float %v17, %y
  %v19 = call float @llvm.maxnum.f32(float %v18, float %z)
  %v20 = call float @llvm.minnum.f32(float %v19, float %z)
  %v21 = call float @llvm.r600.recipsqrt.clamped.f32(float %v20)
  %v22 = call float @llvm.r600.recipsqrt.ieee.f32(float %v21)
  %v23 = fdiv float %y, %v22
  %v24 = fcmp oeq float %v23, %y
  %v25 = select i1 %v24, float 1.0, float 0.0
  %v26 = fsub float %v25, %v23
  %v27 = fcmp ogt float %v26, %y
  %v28 = select i1 %v27, float 1.0, float 0.0
  %v29 = fsub float %v28, %v26
  %v30 = fcmp oge float %v29, %y
  %v31 = select i1 %v30, float 1.0, float 0.0
  %v32 = fsub float %v31, %v29
  %v33 = fcmp une float %v32, %y
  %v34 = select i1 %v33, float 1.0, float 0.0
  %v35 = fsub float %v34, %v32
  %v36 = fcmp oeq float %v35, 0.0
  %v37 = select i1 %v36, float %z, float %y
  %v38 = fmul float %v37, %v35
  %v39 = fcmp ogt float %v38, 0.0
  %v40 = select i1 %v39, float %z, float %y
  %v41 = fmul float %v40, %v38
  %v42 = fcmp oge float %v41, 0.0
  %v43 = select i1 %v42, float %z, float %y
  %v44 = fmul float %v43, %v41
  %r = insertelement <4 x float> %reg1, float %v44, i32 0
  call void @llvm.r600.store.swizzle(<4 x float> %r, i32 3, i32 2)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
declare float @llvm.ceil.f32(float)
declare float @llvm.cos.f32(float)
declare float @llvm.exp2.f32(float)
declare float @llvm.fabs.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.log2.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.r600.recipsqrt.clamped.f32(float)
declare float @llvm.r600.recipsqrt.ieee.f32(float)
declare float @llvm.rint.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.trunc.f32(float)
