// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the shading language of OpenGL ES 3 has beyond that of OpenGL ES 2: integers, loops, arrays in memory, and
//! samplers of every kind called in every way.

use crate::modern::{PASS, RGBA8, SHOW};
use crate::scene::Scene;
use anyhow::Result;
use glow as c;

/// Draw with a fragment shader whose body, after `value` and `colour`, is given.
fn shown(scene: &Scene, declarations: &str, body: &str) -> Result<()> {
    let source = format!(
        "{declarations}\nin vec4 value;\nout vec4 colour;\nvoid main() {{\ncolour = value;\n{body}\n}}\n"
    );
    let program = scene.modern(PASS, &source)?;
    scene.set(program, "count", 5);
    scene.set(program, "image", 0);
    scene.strip("a shader")?;
    scene.gl.use_program(None);
    scene.gl.delete_program(program);
    Ok(())
}

/// Use integer arithmetic, conversions, transcendental functions, and every kind of flow of control.
pub fn arithmetic(scene: &Scene) -> Result<()> {
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    for body in [
        "ivec4 a = ivec4(value * 100.0); ivec4 b = a.wzyx | 1; colour = vec4(a / b + a % b + (a << 2) - (b >> 1));",
        "uvec4 a = uvec4(value * 9e9); uvec4 b = a.yxwz | 7u; colour = vec4(a / b) + vec4(a % b ^ (b >> 3u)) + vec4(~a & b);",
        "colour = vec4(bvec4(ivec4(value * 3.0))) + vec4(floatBitsToInt(value) >> 20) + intBitsToFloat(ivec4(value));",
        "colour = sin(value) + cos(value) + tan(value) + asin(value) + acos(value) + atan(value, value.yzwx);",
        "colour = exp2(value) + log2(value) + sqrt(value) + inversesqrt(value) + pow(value, value.wxyz) + exp(value);",
        "colour = floor(value) + ceil(value) + trunc(value) + round(value) + roundEven(value) + fract(value) + sign(value);",
        "colour = min(value, value.yzwx) + max(value, 0.3) + clamp(value, 0.1, 0.9) + mix(value, value.wzyx, 0.5) + step(0.5, value);",
        "colour = vec4(unpackUnorm2x16(packSnorm2x16(value.xy)), unpackHalf2x16(packHalf2x16(value.zw)));",
        "colour = vec4(cross(value.xyz, value.yzw), dot(value, value.wzyx)) + reflect(value, normalize(value.wzyx));",
        "colour = inverse(mat4(value, value.yzwx, value.zwxy, vec4(1))) * value + determinant(mat3(2)) + vec4(isnan(value));",
        "colour = dFdx(value) + dFdy(value.yxwz) + fwidth(value.wwzz);",
        "if (gl_FrontFacing && gl_FragCoord.x > 20.0) discard; colour = gl_FragCoord * 0.01;",
    ] {
        shown(scene, "", body)?;
    }
    let flow = [
        "for (int i = 0; i < count; i++) { if (i == 3) continue; colour += value * float(i); }",
        "int i = 0; while (true) { if (colour.x > 9.0 || i++ > count * 7) break; colour = colour * 1.5 + value; }",
        "int i = count; do { colour.yz += float(i) * 0.1; } while (--i > 0);",
        "switch (int(value.x * 5.0) + count) { case 5: colour *= 2.0; break; case 6: colour = value.wzyx; case 7: colour += 1.0; break; default: colour = vec4(0); }",
        "for (int i = 0; i < count; i++) for (int j = i; j < count * 2; j++) { if (value.x * float(j) > 3.0) break; colour += sin(float(i * j)); }",
        "if (value.x > 0.5) { if (value.y > 0.5) { if (value.z > 0.5) colour = vec4(1); else colour *= 0.5; } else { for (int i = 0; i < count; i++) { if (value.w > float(i)) { colour += 1.0; } else { colour -= value; break; } } } }",
    ];
    for body in flow {
        shown(scene, "uniform int count;", body)?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("arithmetic")
}

/// Index arrays by numbers of the shader's own, small in registers and large in memory, and call functions. Loops have
/// bounds that the compiler does not know: it would have no registers for what is left of them otherwise.
pub fn arrays(scene: &Scene) -> Result<()> {
    const CALLS: &str = "
uniform int count;
vec4 deep(vec4 a, int n) { for (int i = 0; i < n; i++) a = a.wxyz * 1.1 + 0.1; return a; }
vec4 twice(vec4 a, int n, out float sum) { sum = dot(a, a); return deep(deep(a, n), n + 1); }
";
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    for length in [4, 16, 60, 150, 400] {
        let body = format!(
            "vec4 table[{length}];\nfor (int i = 0; i < count * 50; i++) table[i % {length}] = value * float(i);\n\
             for (int i = 0; i < count; i++) table[int(value.x * 90.0) % {length}] += table[(i * 7) % {length}].wzyx;\n\
             colour = table[int(value.y * 50.0) % {length}] + table[count % {length}];"
        );
        shown(scene, "uniform int count;", &body)?;
        // The same before the rasteriser.
        let vertex = format!(
            "uniform int count;\nin vec4 position;\nin vec4 extra;\nout vec4 value;\nvoid main() {{\n\
             vec4 table[{length}];\nfor (int i = 0; i < count * 50; i++) table[i % {length}] = extra * float(i);\n\
             table[(gl_VertexID * 5) % {length}] = position;\ngl_Position = position;\n\
             value = table[count % {length}] + table[int(extra.x * 9.0) % {length}];\n}}\n"
        );
        scene.modern(&vertex, SHOW)?;
        scene.strip("an array of a vertex shader")?;
    }
    shown(
        scene,
        CALLS,
        "float sum; colour = twice(value, count, sum) + sum;",
    )?;
    // Many values at once; the compiler keeps all of them in registers, or gives up.
    let mut many = String::new();
    for i in 0..30 {
        many += &format!("vec4 v{i} = sin(value * {i}.5 + float(count));\n");
    }
    many += "for (int i = 0; i < count; i++) {\n";
    for i in 0..30 {
        many += &format!("v{i} = v{i} * v{} + 0.1;\n", (i * 37 + 11) % 30);
    }
    many += "}\n";
    for i in 0..30 {
        many += &format!("colour += v{i};\n");
    }
    shown(scene, "uniform int count;", &many)?;
    scene.read(0, 0, 16, 16)?;
    scene.done("arrays and functions")
}

/// Fetch textures by texel, by level, by gradient, with offsets, projected, and asked for their size.
pub fn fetches(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    scene.filled(7, [64, 64], RGBA8)?;
    let plane = "uniform sampler2D image;";
    for body in [
        "colour = texture(image, value.xy) + texture(image, value.xy, 1.5);",
        "colour = textureLod(image, value.xy, value.z * 5.0) + textureLod(image, value.xy, 0.0);",
        "colour = textureGrad(image, value.xy, value.zw, value.wz * 0.1);",
        "colour = textureOffset(image, value.xy, ivec2(3, -4)) + textureLodOffset(image, value.xy, 2.0, ivec2(-8, 7));",
        "colour = textureProj(image, value) + textureProj(image, value.xyz) + textureProjLod(image, value, 1.0);",
        "colour = texelFetch(image, ivec2(value.xy * 60.0), 0) + texelFetchOffset(image, ivec2(1), 2, ivec2(1, 0));",
        "colour = vec4(textureSize(image, 0), textureSize(image, int(value.x * 6.0)));",
        "vec2 at = texture(image, value.xy).xy; at = texture(image, at).zw; colour = texture(image, at * 3.0);",
        "colour = textureGradOffset(image, value.xy, vec2(0.1), vec2(0.2), ivec2(2, 2)) + textureProjGrad(image, value, vec2(0.1), vec2(0.2));",
    ] {
        shown(scene, plane, body)?;
    }
    gl.bind_texture(c::TEXTURE_2D, None);
    let cube = scene.storage(c::TEXTURE_CUBE_MAP, 5, c::RGBA8, [32, 32, 1])?;
    shown(
        scene,
        "uniform samplerCube image;",
        "colour = texture(image, value.xyz) + textureLod(image, value.zyx, 2.0) + textureGrad(image, value.yxz, value.xyz, value.zyx);",
    )?;
    gl.delete_texture(cube);
    let volume = scene.storage(c::TEXTURE_3D, 3, c::RGBA8, [16, 8, 4])?;
    shown(
        scene,
        "uniform sampler3D image;",
        "colour = texture(image, value.xyz) + texelFetch(image, ivec3(value.xyz * 4.0), 1) + vec4(textureSize(image, 1), 0) + textureProj(image, value);",
    )?;
    gl.delete_texture(volume);
    let array = scene.storage(c::TEXTURE_2D_ARRAY, 3, c::RGBA8, [16, 8, 7])?;
    shown(
        scene,
        "uniform sampler2DArray image;",
        "colour = texture(image, value.xyz * 7.0) + texelFetch(image, ivec3(1, 2, 6), 0) + vec4(textureSize(image, 0), 0) + textureOffset(image, value.xyz, ivec2(1));",
    )?;
    gl.delete_texture(array);
    // In the vertex shader.
    scene.filled(3, [16, 16], RGBA8)?;
    let vertex = "
uniform sampler2D image;
in vec4 position;
in vec4 extra;
out vec4 value;
void main() {
    gl_Position = position + textureLod(image, extra.xy, 1.0) * 0.01;
    value = texelFetch(image, ivec2(gl_VertexID, 3), 0) + vec4(textureSize(image, 2), 0, 0);
}
";
    scene.modern(vertex, SHOW)?;
    scene.strip("fetches of a vertex shader")?;
    scene.read(0, 0, 16, 16)?;
    scene.done("fetches")
}
