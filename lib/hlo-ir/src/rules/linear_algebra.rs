//! Rules of products, convolutions, transforms, factorisations, batch normalisation and random numbers.

rules! {}
