; SPDX-License-Identifier: GPL-2.0 OR MIT
; Integers, and large literals.
define amdgpu_ps void @main(<4 x float> inreg %reg0, <4 x float> inreg %reg1) {
  %xf = extractelement <4 x float> %reg0, i32 0
  %yf = extractelement <4 x float> %reg0, i32 1
  %x = fptosi float %xf to i32
  %y = bitcast float %yf to i32
  %m = mul i32 %x, %y
  %u = mul i32 %m, 7
  %xo = xor i32 %u, 305419896
  %sh = ashr i32 %xo, %x
  %l = lshr i32 %sh, 3
  %a = and i32 %l, %y
  %o = or i32 %a, 65536
  %s = sub i32 %o, %m
  %c = icmp ult i32 %s, %y
  %sel = select i1 %c, i32 %s, i32 %u
  %f = bitcast i32 %sel to float
  %g = uitofp i32 %sel to float
  %v0 = insertelement <4 x float> undef, float %f, i32 0
  %v1 = insertelement <4 x float> %v0, float %g, i32 1
  call void @llvm.r600.store.swizzle(<4 x float> %v1, i32 0, i32 0)
  ret void
}
declare void @llvm.r600.store.swizzle(<4 x float>, i32, i32)
