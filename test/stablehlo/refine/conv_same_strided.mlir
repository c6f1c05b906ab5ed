// A convolution whose padding follows from the sizes: stablehlo.dynamic_conv. As jax.export writes it; the results are those of jaxlib.
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[1,8,7,3] {{{{-0.09, 0.9, -0.38}, {0.51, -0.43, 0.54}, {-0.96, -0.74, -0.48}, {0.74, -0.36, -0.03}, {-0.79, 0.13, -0.81}, {-0.72, 0.6, -0.51}, {-0.88, 0.2, -0.71}}, {{-0.89, 0.66, -0.21}, {0.73, 0.49, -0.6}, {-0.83, -0.66, -0.01}, {-0.28, 0.66, -0.06}, {0.11, -0.23, 0.51}, {0.38, 0.37, 0.54}, {-0.2, -0.76, 0.64}}, {{-0.31, 0.38, 0.98}, {0.4, 0.81, -0.97}, {0.21, -0.81, 0.75}, {0.92, -0.93, -0.73}, {0.67, 0.37, 0.96}, {0.51, 0.19, 0.08}, {-0.98, 0.57, -0.23}}, {{-0.79, 0.09, -0.26}, {0.21, -0.97, -0.67}, {0.08, 0.22, -0.84}, {0.27, 0.68, -0.43}, {0.04, 0.81, 0.41}, {-0.59, 0.93, -0.32}, {0.65, -0.09, 0.58}}, {{0.84, 0.81, 0.61}, {-0.35, 0.83, -0.69}, {-0.48, 0.29, 0.5}, {-0.9, -0.46, -0.26}, {0.69, -1.0, 0.78}, {-0.33, 0.23, 0.87}, {-0.88, 0.09, -0.56}}, {{0.4, 0.64, -0.51}, {0.72, -0.65, -0.04}, {-0.74, -0.38, -0.25}, {0.39, -0.37, 0.06}, {0.3, 0.57, -0.41}, {-0.89, -0.53, 0.09}, {0.76, 0.32, 0.21}}, {{-0.94, -0.0, -0.34}, {-0.31, 0.92, -0.67}, {-0.82, -0.39, 0.29}, {-0.46, 0.41, 0.39}, {-0.12, 0.67, -0.35}, {0.25, 0.08, -0.86}, {-0.31, 0.13, 0.95}}, {{0.57, -0.04, -0.61}, {-0.46, -0.92, 0.16}, {-0.15, 0.32, 0.06}, {-0.17, -0.3, -0.92}, {0.97, -0.85, -0.95}, {-0.57, -0.73, 0.59}, {-0.7, -0.32, -0.97}}}}' \
// RUN:   --input='f32[3,3,3,4] {{{{0.86, -0.36, 0.69, 0.92}, {0.45, -0.48, -0.02, 0.57}, {0.4, 0.66, 0.09, 0.32}}, {{-0.27, -0.62, 0.39, -0.99}, {0.57, -0.99, 0.23, 0.19}, {-0.79, 0.18, 0.52, 0.07}}, {{0.35, 0.42, -0.59, 0.85}, {-0.34, 0.17, -0.79, 0.99}, {0.31, -0.08, 0.13, -0.95}}}, {{{-0.52, 0.95, -0.84, -0.72}, {0.15, 0.55, 0.71, 0.72}, {0.52, -0.3, 0.16, 0.63}}, {{-0.72, -0.84, -0.08, -0.38}, {-0.99, 0.03, -0.25, 0.77}, {-0.33, 0.33, 0.14, -0.4}}, {{-0.06, -0.26, -0.52, -0.82}, {-0.9, -0.55, -0.83, -0.7}, {-0.75, -0.25, -0.52, -0.99}}}, {{{-0.93, 0.98, -0.51, -0.92}, {0.25, 0.1, -0.22, 0.47}, {0.87, -0.21, -0.25, 0.03}}, {{-0.53, -0.65, -0.22, 0.35}, {-0.97, -0.72, 0.62, -0.34}, {0.12, -0.89, 0.1, -0.94}}, {{-0.59, -0.1, 0.05, -0.75}, {-0.08, 0.56, 0.41, -0.26}, {-0.01, 0.6, -0.47, -0.72}}}}' \
// RUN:   --expect 'f32[1,4,4,4] {{{{0.9737, -1.5296001, 0.6956, -0.65999997}, {0.44370002, 2.8196003, -1.6487999, 0.2665}, {-2.4304998, -0.8019999, -0.10930001, -1.7951001}, {0.76489997, 1.5465999, -0.67149997, -0.75439996}}, {{0.007700075, 0.016299922, 1.5482, 4.1433997}, {-0.7493, -1.6676003, -0.68499994, 0.633}, {-0.9372999, -0.7403, 0.3331999, 0.7345001}, {2.4701, -0.007900038, 1.2345998, 2.6355996}}, {{-0.47370017, -0.41059998, 1.0640999, 1.4599999}, {1.2384, 0.88479996, -0.14789996, -1.2929001}, {-2.6947007, 0.10509992, 0.89009994, -0.78230006}, {-0.41270003, -1.0891999, -0.17970005, -0.1194}}, {{0.45949996, 0.50570005, -0.37580016, 3.05}, {0.3959, -0.37659997, -0.038099885, 1.7363999}, {0.6997, -1.0404, -0.30769998, 0.34360006}, {0.94889987, -1.3232001, 0.5515999, 1.0626}}}}'
// RUN: hlo-run %s -q --engine=both --rtol=1e-5 --atol=1e-6 \
// RUN:   --input='f32[3,6,5,3] {{{{0.94, 0.75, 0.75}, {-0.05, -0.93, 0.49}, {0.58, 0.93, -0.93}, {0.63, -0.33, 0.33}, {0.8, -0.5, 0.99}}, {{-0.92, -0.77, -0.04}, {0.44, 0.85, 0.69}, {0.94, -0.12, -0.19}, {0.18, 0.38, 0.81}, {0.18, 0.81, -0.17}}, {{0.54, 1.0, -0.84}, {0.41, 0.81, 0.79}, {0.75, -0.44, -0.19}, {0.02, 0.94, -0.47}, {0.32, 0.52, -0.71}}, {{0.74, 0.01, 0.91}, {0.78, 0.89, -0.63}, {0.67, 0.73, 0.89}, {0.3, -0.26, 0.17}, {-0.68, 0.99, 0.44}}, {{-0.32, 0.84, 0.42}, {-0.33, 0.86, -0.35}, {-0.36, -0.94, 0.4}, {-0.78, -0.9, 0.31}, {0.94, -0.87, 0.52}}, {{-0.54, 0.72, -0.98}, {-0.61, 0.95, 0.15}, {-0.74, -0.99, -0.18}, {-0.13, 0.07, 0.36}, {-0.69, -0.36, -0.89}}}, {{{0.99, -0.15, 0.36}, {-0.43, -0.72, -0.61}, {-0.97, 0.38, 0.98}, {-0.82, -0.67, 0.6}, {0.27, 0.9, -0.27}}, {{-0.14, -0.43, 0.61}, {-0.62, -0.24, 0.32}, {0.83, 0.63, -0.83}, {0.73, 0.58, -0.06}, {0.11, -0.11, -0.89}}, {{-0.36, 0.83, 0.2}, {-0.8, 0.1, 0.24}, {0.62, 0.16, -0.6}, {0.94, -0.41, 0.45}, {0.38, 0.85, 0.53}}, {{-0.22, -0.9, 0.31}, {-0.98, -0.9, -0.95}, {0.15, 0.57, -0.86}, {-0.36, -0.24, 0.8}, {0.29, -0.19, 0.84}}, {{0.37, 0.34, 0.42}, {0.08, -0.07, 0.94}, {0.14, -0.19, -0.81}, {-0.62, 0.97, 0.92}, {-0.99, -0.84, 0.36}}, {{-0.56, 0.33, -0.58}, {-0.21, -0.35, -0.51}, {0.55, -0.39, 0.83}, {-0.62, 0.79, -0.69}, {-0.41, 0.97, -0.91}}}, {{{0.68, -0.67, 0.04}, {0.92, -0.76, -0.25}, {0.02, 0.3, -0.33}, {-0.5, 0.82, -0.98}, {0.96, -0.7, -0.54}}, {{0.46, 0.51, 0.03}, {-0.96, -0.55, -0.58}, {0.78, -0.08, 0.53}, {0.81, -0.21, 0.85}, {0.36, 0.21, -0.1}}, {{-0.12, -0.35, -0.44}, {-0.03, -0.18, -0.48}, {-0.85, 0.95, 0.15}, {-0.33, 0.68, -0.03}, {0.67, -0.67, -0.71}}, {{-0.53, 0.72, 0.53}, {-0.34, 0.87, 0.72}, {-0.22, 0.2, 0.97}, {0.41, -0.6, 0.2}, {0.78, 0.06, -0.07}}, {{0.49, -0.09, 0.27}, {-0.99, 0.53, 0.92}, {0.69, 0.63, -0.05}, {0.47, -0.02, -0.77}, {-0.93, -0.3, 0.67}}, {{-0.06, -0.78, -0.93}, {0.06, -0.5, 0.28}, {-0.41, -0.11, -0.72}, {-0.19, 0.14, 0.06}, {-0.8, 0.72, 0.43}}}}' \
// RUN:   --input='f32[3,3,3,4] {{{{-0.7, -0.78, -0.65, -0.18}, {-0.51, -0.54, 0.26, -0.76}, {-0.57, 0.83, -0.76, -0.55}}, {{0.82, 0.56, -0.1, 0.94}, {-0.35, 0.19, -0.59, -0.08}, {-0.51, 0.44, -0.63, 0.77}}, {{0.79, 0.54, 0.77, -0.4}, {-0.9, 0.82, 0.15, -0.91}, {0.55, -0.36, 0.9, 0.97}}}, {{{0.21, 0.82, -0.29, -0.45}, {0.46, 0.12, -0.95, -0.3}, {-0.98, -0.38, -0.06, -0.28}}, {{0.05, -0.94, 0.9, -0.58}, {-0.83, 0.21, 0.34, -0.36}, {0.83, -0.69, -0.66, 0.69}}, {{-0.1, 0.12, 0.54, -0.05}, {0.78, -0.55, -0.02, -0.66}, {-0.52, 0.23, 0.2, -0.24}}}, {{{-0.98, -0.1, -0.46, 0.99}, {0.16, 0.77, 0.38, -0.82}, {-0.02, 0.9, 0.06, -0.72}}, {{0.52, 0.56, 0.47, 0.32}, {0.7, -0.14, -0.32, 0.79}, {-0.83, 0.94, -0.64, -0.33}}, {{0.6, -0.75, -0.25, 0.3}, {-0.34, 0.69, -0.41, 0.18}, {-0.29, -0.78, -0.44, 0.63}}}}' \
// RUN:   --expect 'f32[3,3,3,4] {{{{3.4324005, -0.4844, -1.7616, 4.7838006}, {1.2642998, 3.0097, 0.9336999, -2.1569998}, {-0.26040012, 0.49070004, -0.3087997, 0.9100002}}, {{1.9625002, 0.07369988, 0.57549995, -0.37619987}, {-1.2986001, 1.6238003, -0.42669994, -4.1828003}, {-0.43429998, 0.547, 0.7038999, -1.3254999}}, {{-2.7118, 1.5920001, -1.0811001, -2.2894}, {0.86359996, -1.7750996, -1.0318999, 1.5575999}, {0.8160998, 2.8937, -0.07729996, 1.8599}}}, {{{0.8623001, 0.18489994, -2.6755998, 2.6285}, {0.8595001, -3.2144, 2.6673002, 0.8355001}, {-0.18829994, 3.4687, -1.5890001, 0.7377001}}, {{-0.5134001, -0.71660006, -2.9831, 2.5995002}, {0.5894, 1.7308999, 3.7060008, 0.7434001}, {-1.7194, 0.48759997, -1.7244998, -2.0888}}, {{-0.15669993, 1.1499, 0.17749998, 1.7571999}, {1.5532999, -1.2887, 0.06989997, -0.28580004}, {-1.958, 1.2334, 0.35590008, -2.2219002}}}, {{{1.8784, -0.21649991, 1.2454001, 0.41170013}, {-2.0457003, -1.4722997, -1.0143999, 0.286}, {1.7006999, -0.27730003, 3.7073, -1.2878001}}, {{-0.7965001, 0.5431, -0.9137, -0.6549003}, {0.4194999, 1.2601999, -0.5833001, -1.8162}, {-1.1056, -1.2876999, 1.3574998, -0.6066}}, {{-1.1265999, 0.8258, 0.3722, 1.4155002}, {-0.6867, 2.9042003, -0.24499995, -1.3597}, {-1.1942, -0.83319986, -0.7181001, 0.548}}}}'

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x?x3xf32>, %arg1: tensor<3x3x3x4xf32>) -> (tensor<?x?x?x4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %0, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %0, %1, %2) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[2] (= {2}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %6 = call @_wrapped_jax_export_main(%0, %1, %2, %arg0, %arg1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>) -> tensor<?x?x?x4xf32>
    return %6 : tensor<?x?x?x4xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<?x?x?x3xf32>, %arg4: tensor<3x3x3x4xf32>) -> (tensor<?x?x?x4xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<-2> : tensor<i32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %c_2 = stablehlo.constant dense<-1> : tensor<i32>
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.multiply %0, %c_2 : tensor<i32>
    %2:2 = call @divmod(%arg0, %arg1, %arg2, %1, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %3 = stablehlo.multiply %2#0, %c_0 : tensor<i32>
    %4 = stablehlo.convert %arg1 : tensor<i32>
    %5 = stablehlo.multiply %4, %c_2 : tensor<i32>
    %6 = stablehlo.add %3, %5 : tensor<i32>
    %7 = stablehlo.add %6, %c : tensor<i32>
    %8:2 = call @divmod(%arg0, %arg1, %arg2, %7, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %9 = stablehlo.convert %arg1 : tensor<i32>
    %10 = stablehlo.multiply %9, %c_2 : tensor<i32>
    %11:2 = call @divmod(%arg0, %arg1, %arg2, %10, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %12 = stablehlo.multiply %11#0, %c_0 : tensor<i32>
    %13 = stablehlo.convert %arg1 : tensor<i32>
    %14 = stablehlo.multiply %13, %c_2 : tensor<i32>
    %15 = stablehlo.add %12, %14 : tensor<i32>
    %16 = stablehlo.add %15, %c : tensor<i32>
    %17:2 = call @divmod(%arg0, %arg1, %arg2, %16, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %18 = stablehlo.multiply %17#0, %c_2 : tensor<i32>
    %19 = stablehlo.convert %arg1 : tensor<i32>
    %20 = stablehlo.multiply %19, %c_2 : tensor<i32>
    %21:2 = call @divmod(%arg0, %arg1, %arg2, %20, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %22 = stablehlo.multiply %21#0, %c_0 : tensor<i32>
    %23 = stablehlo.convert %arg1 : tensor<i32>
    %24 = stablehlo.multiply %23, %c_2 : tensor<i32>
    %25 = stablehlo.add %18, %22 : tensor<i32>
    %26 = stablehlo.add %25, %24 : tensor<i32>
    %27 = stablehlo.add %26, %c : tensor<i32>
    %28 = stablehlo.reshape %8#0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.reshape %27 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %28, %29, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.reshape %30 : (tensor<2xi32>) -> tensor<1x2xi32>
    %32 = stablehlo.convert %arg2 : tensor<i32>
    %33 = stablehlo.multiply %32, %c_2 : tensor<i32>
    %34:2 = call @divmod(%arg0, %arg1, %arg2, %33, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %35 = stablehlo.multiply %34#0, %c_0 : tensor<i32>
    %36 = stablehlo.convert %arg2 : tensor<i32>
    %37 = stablehlo.multiply %36, %c_2 : tensor<i32>
    %38 = stablehlo.add %35, %37 : tensor<i32>
    %39 = stablehlo.add %38, %c : tensor<i32>
    %40:2 = call @divmod(%arg0, %arg1, %arg2, %39, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %41 = stablehlo.convert %arg2 : tensor<i32>
    %42 = stablehlo.multiply %41, %c_2 : tensor<i32>
    %43:2 = call @divmod(%arg0, %arg1, %arg2, %42, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %44 = stablehlo.multiply %43#0, %c_0 : tensor<i32>
    %45 = stablehlo.convert %arg2 : tensor<i32>
    %46 = stablehlo.multiply %45, %c_2 : tensor<i32>
    %47 = stablehlo.add %44, %46 : tensor<i32>
    %48 = stablehlo.add %47, %c : tensor<i32>
    %49:2 = call @divmod(%arg0, %arg1, %arg2, %48, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %50 = stablehlo.multiply %49#0, %c_2 : tensor<i32>
    %51 = stablehlo.convert %arg2 : tensor<i32>
    %52 = stablehlo.multiply %51, %c_2 : tensor<i32>
    %53:2 = call @divmod(%arg0, %arg1, %arg2, %52, %c_1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %54 = stablehlo.multiply %53#0, %c_0 : tensor<i32>
    %55 = stablehlo.convert %arg2 : tensor<i32>
    %56 = stablehlo.multiply %55, %c_2 : tensor<i32>
    %57 = stablehlo.add %50, %54 : tensor<i32>
    %58 = stablehlo.add %57, %56 : tensor<i32>
    %59 = stablehlo.add %58, %c : tensor<i32>
    %60 = stablehlo.reshape %40#0 : (tensor<i32>) -> tensor<1xi32>
    %61 = stablehlo.reshape %59 : (tensor<i32>) -> tensor<1xi32>
    %62 = stablehlo.concatenate %60, %61, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %63 = stablehlo.reshape %62 : (tensor<2xi32>) -> tensor<1x2xi32>
    %64 = stablehlo.concatenate %31, %63, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %65 = "stablehlo.dynamic_conv"(%arg3, %arg4, %64) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 2>}> : (tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<?x?x?x4xf32>
    return %65 : tensor<?x?x?x4xf32>
  }
  func.func private @divmod(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i32>, %arg4: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = call @floor_divide(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %1 = call @remainder(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @floor_divide(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.divide %arg3, %arg4 : tensor<i32>
    %1 = stablehlo.sign %arg3 : tensor<i32>
    %2 = stablehlo.sign %arg4 : tensor<i32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.remainder %arg3, %arg4 : tensor<i32>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i32>
    %8 = call @_where(%arg0, %arg1, %arg2, %6, %7, %0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    return %8 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i1>, %arg4: tensor<i32>, %arg5: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg3, %arg4, %arg5 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @remainder(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32> {jax.global_constant = "h"}, %arg2: tensor<i32> {jax.global_constant = "w"}, %arg3: tensor<i32>, %arg4: tensor<i32>) -> tensor<i32> {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare EQ, %arg4, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = call @_where(%arg0, %arg1, %arg2, %0, %c, %arg4) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = stablehlo.remainder %arg3, %1 : tensor<i32>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i32>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i32>
    return %9 : tensor<i32>
  }
}
