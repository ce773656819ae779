; SPDX-License-Identifier: GPL-2.0 OR MIT
; A branch and a loop.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
entry:
  %x = extractelement <4 x float> %reg0, i32 0
  %y = extractelement <4 x float> %reg0, i32 1
  %z = extractelement <4 x float> %reg1, i32 0
  %w = extractelement <4 x float> %reg1, i32 1
  %c = fcmp ogt float %x, 0.0
  br i1 %c, label %a, label %b
a:
  %a0 = fmul float %x, %y
  %a1 = fadd float %a0, 2.5
  %a2 = call float @llvm.sin.f32(float %a1)
  br label %loop
b:
  %b0 = fsub float %x, %y
  br label %loop
loop:
  %i = phi i32 [0, %a], [1, %b], [%i1, %loop2]
  %acc = phi float [%a2, %a], [%b0, %b], [%acc1, %loop2]
  %cf = sitofp i32 %i to float
  %done = fcmp ogt float %cf, %z
  br i1 %done, label %end, label %loop2
loop2:
  %acc1 = fmul float %acc, %w
  %i1 = add i32 %i, 3
  br label %loop
end:
  %sh = shl i32 %i, 5
  %fsh = bitcast i32 %sh to float
  %v0 = insertelement <4 x float> undef, float %acc, i32 0
  %v1 = insertelement <4 x float> %v0, float %fsh, i32 1
  %v2 = insertelement <4 x float> %v1, float %w, i32 2
  %v3 = insertelement <4 x float> %v2, float 1.0, i32 3
  call void @llvm.r600.store.swizzle(<4 x float> %v3, i32 0, i32 0)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
declare float @llvm.sin.f32(float)
