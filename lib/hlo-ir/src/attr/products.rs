//! The dimension numbers of products: `dot` and `scaled-dot`, `ragged-dot`.

use super::{DotAttrs, RaggedDotAttrs};

/// The dimension numbers of a product, for the left and the right operand.
#[derive(Clone, Copy, Debug)]
pub struct ProductNumbers<'a> {
    /// The batch dimensions.
    pub batch: [&'a [i64]; 2],
    /// The contracting dimensions.
    pub contracting: [&'a [i64]; 2],
}

/// Both attribute structs have fields of these names.
macro_rules! numbers_of {
    ($($attributes:ident)*) => {
        $(impl $attributes {
            /// Returns the dimension numbers.
            pub fn numbers(&self) -> ProductNumbers<'_> {
                ProductNumbers {
                    batch: [&self.lhs_batch_dims, &self.rhs_batch_dims],
                    contracting: [&self.lhs_contracting_dims, &self.rhs_contracting_dims],
                }
            }
        })*
    };
}

numbers_of! { DotAttrs RaggedDotAttrs }
