; SPDX-License-Identifier: GPL-2.0 OR MIT
; Comparisons, extremes and conversions of integers.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %xf = extractelement <4 x float> %reg0, i32 0
  %yf = extractelement <4 x float> %reg0, i32 1
  %x = fptoui float %xf to i32
  %y = bitcast float %yf to i32
  %v1 = call i32 @llvm.smax.i32(i32 %x, i32 %y)
  %v2 = mul i32 %v1, 1002
  %v3 = call i32 @llvm.smin.i32(i32 %v2, i32 %y)
  %v4 = mul i32 %v3, 1004
  %v5 = call i32 @llvm.umax.i32(i32 %v4, i32 %y)
  %v6 = mul i32 %v5, 1006
  %v7 = call i32 @llvm.umin.i32(i32 %v6, i32 %y)
  %v8 = mul i32 %v7, 1008
  %v9 = icmp eq i32 %v8, %y
  %v10 = sext i1 %v9 to i32
  %v11 = add i32 %v10, %v8
  %v12 = icmp sgt i32 %v11, %y
  %v13 = sext i1 %v12 to i32
  %v14 = add i32 %v13, %v11
  %v15 = icmp sge i32 %v14, %y
  %v16 = sext i1 %v15 to i32
  %v17 = add i32 %v16, %v14
  %v18 = icmp ne i32 %v17, %y
  %v19 = sext i1 %v18 to i32
  %v20 = add i32 %v19, %v17
  %v21 = icmp ugt i32 %v20, %y
  %v22 = sext i1 %v21 to i32
  %v23 = add i32 %v22, %v20
  %v24 = icmp uge i32 %v23, %y
  %v25 = sext i1 %v24 to i32
  %v26 = add i32 %v25, %v23
  %v27 = zext i32 %v26 to i64
  %v28 = zext i32 %y to i64
  %v29 = mul i64 %v27, %v28
  %v30 = lshr i64 %v29, 32
  %v31 = trunc i64 %v30 to i32
  %v32 = xor i32 %v31, -1
  %v33 = sitofp i32 %v32 to float
  %r = insertelement <4 x float> %reg1, float %v33, i32 2
  call void @llvm.r600.store.swizzle(<4 x float> %r, i32 61, i32 0)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
