//! Parameters, constants and tuples.

use crate::operand::Operand;
use crate::{Builder, Value};
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, Literal, NativeType, Op, Shape};
use std::panic::Location;

impl Builder {
    /// Adds a parameter. Numbers start at 0. `name` is the name of the instruction in the text.
    #[track_caller]
    pub fn parameter(&self, number: i64, shape: impl Into<Shape>, name: &str) -> Value<'_> {
        self.parameter_at(number, shape.into(), name, Location::caller())
    }

    /// Adds a constant: an array, or a tuple of constants.
    #[track_caller]
    pub fn constant(&self, literal: Literal) -> Value<'_> {
        match literal.shape() {
            Shape::Tuple(_) => {
                let mut parts = Vec::with_capacity(literal.tuple_elements().len());
                for part in literal.tuple_elements() {
                    parts.push(self.constant(part.clone()));
                }
                self.tuple(&parts)
            }
            Shape::Array(a) => {
                let shape = a.clone();
                self.add_shaped(Op::constant(literal), &[], shape)
            }
            other => {
                let message = format!("a constant is an array or a tuple of arrays, found {other}");
                self.fail(Location::caller(), Diag::error(message))
            }
        }
    }

    /// Adds a scalar constant.
    ///
    /// The Rust type determines the element type (see [`NativeType`]).
    #[track_caller]
    pub fn constant_r0<T: NativeType>(&self, value: T) -> Value<'_> {
        self.constant(Literal::r0(value))
    }

    /// Adds a constant vector.
    #[track_caller]
    pub fn constant_r1<T: NativeType>(&self, values: &[T]) -> Value<'_> {
        self.constant(Literal::r1(values))
    }

    /// Adds a constant vector that contains the same value `length` times.
    #[track_caller]
    pub fn constant_r1_filled<T: NativeType>(&self, length: i64, value: T) -> Value<'_> {
        self.constant_r0(value).broadcast(&[length])
    }

    /// Adds a constant matrix from its rows.
    #[track_caller]
    pub fn constant_r2<T: NativeType, const N: usize>(&self, rows: &[[T; N]]) -> Value<'_> {
        self.constant(Literal::r2(rows))
    }

    /// Adds a constant of rank 3 from its matrices.
    #[track_caller]
    pub fn constant_r3<T: NativeType, const M: usize, const N: usize>(
        &self,
        matrices: &[[[T; N]; M]],
    ) -> Value<'_> {
        self.constant(Literal::r3(matrices))
    }

    /// Adds a constant of rank 4 from its arrays of rank 3.
    #[track_caller]
    pub fn constant_r4<T: NativeType, const L: usize, const M: usize, const N: usize>(
        &self,
        arrays: &[[[[T; N]; M]; L]],
    ) -> Value<'_> {
        self.constant(Literal::r4(arrays))
    }

    /// Adds a constant of any rank with the given sizes. The elements are in row-major order.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    ///
    /// let b = Builder::new("rank_5");
    /// let x = b.constant_array(&[1, 2, 1, 2, 1], &[1.5f32, 2.0, -1.0, 0.0]);
    /// assert_eq!(x.shape()?.to_string(), "f32[1,2,1,2,1]");
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    #[track_caller]
    pub fn constant_array<T: NativeType>(&self, sizes: &[i64], elements: &[T]) -> Value<'_> {
        match Literal::from_values(sizes, elements) {
            Some(literal) => self.constant(literal),
            None => {
                let message = format!("a constant of sizes {sizes:?} can't have {} elements", elements.len());
                self.fail(Location::caller(), Diag::error(message))
            }
        }
    }

    /// Adds the scalar 0 of an element type, or false for `pred`.
    #[track_caller]
    pub fn zero(&self, element_type: ElementType) -> Value<'_> {
        match Literal::try_zeros(&Shape::scalar(element_type)) {
            Some(zero) => self.constant(zero),
            None => self.fail(Location::caller(), Diag::error(format!("no memory for a {element_type}"))),
        }
    }

    /// Adds a scalar constant of an element type from a number, which the type must be able to represent.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    /// use hlo_ir::ElementType;
    ///
    /// let b = Builder::new("numbers");
    /// assert_eq!(b.compute_constant(b.constant_number(3, ElementType::F64))?.elements::<f64>(), [3.0]);
    /// b.constant_number(0.5, ElementType::S32);
    /// assert_eq!(b.errors()[0].message, "0.5 is no value of type s32");
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    #[track_caller]
    pub fn constant_number<'b>(
        &'b self,
        number: impl Into<Operand<'b>>,
        element_type: ElementType,
    ) -> Value<'b> {
        number.into().plain(self, Some(element_type))
    }

    /// Combines values to a tuple.
    #[track_caller]
    pub fn tuple<'b>(&'b self, elements: &[Value<'b>]) -> Value<'b> {
        self.add(Op::Tuple, elements)
    }
}

impl<'b> Value<'b> {
    /// Returns the element of a tuple at an index.
    #[track_caller]
    pub fn get_tuple_element(self, index: i64) -> Value<'b> {
        self.builder.add(Op::get_tuple_element(index), &[self])
    }

    /// Returns the elements of a tuple. Reports an error and returns no elements if this value is not a
    /// tuple.
    #[track_caller]
    pub fn elements(self) -> Vec<Value<'b>> {
        match self.shape_if_made() {
            Some(Shape::Tuple(parts)) => {
                let mut elements = Vec::with_capacity(parts.len());
                for n in 0..parts.len() as i64 {
                    elements.push(self.get_tuple_element(n));
                }
                elements
            }
            Some(other) => {
                let message = format!("only a tuple has elements to get, found {other}");
                self.builder.fail(Location::caller(), Diag::error(message));
                Vec::new()
            }
            None => Vec::new(),
        }
    }
}
