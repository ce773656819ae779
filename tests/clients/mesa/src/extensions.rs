// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GL calls that `glow` does not have or knows only by another name: vertex arrays and indices in the
//! client's memory, and queries of OpenGL ES 2, which are an extension there.

use anyhow::{Context, Result};
use std::ffi::c_void;

type Get = extern "system" fn();
type VertexAttribPointer = extern "system" fn(u32, i32, u32, u8, i32, *const c_void);
type DrawElements = extern "system" fn(u32, i32, u32, *const c_void);
type GenQueries = extern "system" fn(i32, *mut u32);
type DeleteQueries = extern "system" fn(i32, *const u32);
type BeginQuery = extern "system" fn(u32, u32);
type EndQuery = extern "system" fn(u32);
type GetQueryObject = extern "system" fn(u32, u32, *mut u32);

/// Entry points.
pub struct Extensions {
    vertex_attrib_pointer: VertexAttribPointer,
    draw_elements: DrawElements,
    gen_queries: GenQueries,
    delete_queries: DeleteQueries,
    begin_query: BeginQuery,
    end_query: EndQuery,
    get_query_object: GetQueryObject,
}

/// A query object; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query(u32);

impl Extensions {
    /// Look the entry points up; `queries` is the suffix of the query calls (`EXT` in OpenGL ES).
    pub fn load(load: impl Fn(&str) -> Option<Get>, queries: &str) -> Result<Extensions> {
        let get = |name: &str| load(name).with_context(|| format!("no {name}"));
        let query = |name: &str| get(&format!("{name}{queries}"));
        // SAFETY: each type is the one that OpenGL gives the function of that name.
        unsafe {
            Ok(Extensions {
                vertex_attrib_pointer: std::mem::transmute::<Get, VertexAttribPointer>(get(
                    "glVertexAttribPointer",
                )?),
                draw_elements: std::mem::transmute::<Get, DrawElements>(get("glDrawElements")?),
                gen_queries: std::mem::transmute::<Get, GenQueries>(query("glGenQueries")?),
                delete_queries: std::mem::transmute::<Get, DeleteQueries>(query(
                    "glDeleteQueries",
                )?),
                begin_query: std::mem::transmute::<Get, BeginQuery>(query("glBeginQuery")?),
                end_query: std::mem::transmute::<Get, EndQuery>(query("glEndQuery")?),
                get_query_object: std::mem::transmute::<Get, GetQueryObject>(query(
                    "glGetQueryObjectuiv",
                )?),
            })
        }
    }

    /// Draw triangles from positions (attribute 0, four floats each) and indices that lie in the
    /// client's memory. No buffer may be bound.
    pub fn draw_from_client_memory(&self, positions: &[[f32; 4]], indices: &[u16]) {
        let last = indices.iter().copied().max().map_or(0, usize::from);
        assert!(last < positions.len());
        // Both are read during the second call.
        (self.vertex_attrib_pointer)(0, 4, glow::FLOAT, 0, 0, positions.as_ptr().cast());
        let count = indices.len() as i32;
        let at = indices.as_ptr().cast();
        (self.draw_elements)(glow::TRIANGLES, count, glow::UNSIGNED_SHORT, at);
    }

    /// Return a new query.
    pub fn create_query(&self) -> Query {
        let mut name = 0;
        (self.gen_queries)(1, &mut name);
        Query(name)
    }

    /// Begin to count for a query.
    pub fn begin_query(&self, target: u32, query: Query) {
        (self.begin_query)(target, query.0);
    }

    /// End it.
    pub fn end_query(&self, target: u32) {
        (self.end_query)(target);
    }

    /// Return `QUERY_RESULT` or `QUERY_RESULT_AVAILABLE` of a query.
    pub fn query_object(&self, query: Query, name: u32) -> u32 {
        let mut value = 0;
        (self.get_query_object)(query.0, name, &mut value);
        value
    }

    /// Delete a query.
    pub fn delete_query(&self, query: Query) {
        (self.delete_queries)(1, &query.0);
    }
}
