internal import COpenSSL

/// Arithmetic on P-256. OpenSSL multiplies one point by one number in constant time, but not when one call sums two
/// products; so each product here is a call of its own.
final class Curve {
  /// Bytes of an uncompressed point: a byte for the form, and two coordinates.
  static let pointByteCount = 65
  static let scalarByteCount = 32

  private let group: OpaquePointer
  private let context: OpaquePointer

  init() throws(SecurityError) {
    guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
      throw SecurityError(call: "EC_GROUP_new_by_curve_name")
    }
    guard let context = BN_CTX_secure_new() else {
      EC_GROUP_free(group)
      throw SecurityError(call: "BN_CTX_secure_new")
    }
    self.group = group
    self.context = context
  }

  deinit {
    BN_CTX_free(context)
    EC_GROUP_free(group)
  }

  /// A number from 0 to the group's order, exclusive.
  struct Scalar: ~Copyable {
    fileprivate let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer?) throws(SecurityError) {
      guard let pointer else { throw SecurityError(call: "BN_new") }
      self.pointer = pointer
      BN_set_flags(pointer, BN_FLG_CONSTTIME)
    }

    deinit { BN_clear_free(pointer) }

    var bytes: [UInt8] {
      var bytes = [UInt8](repeating: 0, count: scalarByteCount)
      BN_bn2binpad(pointer, &bytes, Int32(bytes.count))
      return bytes
    }
  }

  struct Point: ~Copyable {
    fileprivate let pointer: OpaquePointer

    fileprivate init(_ pointer: OpaquePointer?) throws(SecurityError) {
      guard let pointer else { throw SecurityError(call: "EC_POINT_new") }
      self.pointer = pointer
    }

    deinit { EC_POINT_clear_free(pointer) }
  }

  /// Reads big-endian bytes of any length, reduced by the group's order.
  func scalar(_ bytes: [UInt8]) throws(SecurityError) -> Scalar {
    let scalar = try Scalar(BN_bin2bn(bytes, Int32(clamping: bytes.count), nil))
    try check(
      BN_nnmod(scalar.pointer, scalar.pointer, EC_GROUP_get0_order(group), context), "BN_nnmod")
    return scalar
  }

  /// Returns a secret number, never zero.
  func randomScalar() throws(SecurityError) -> Scalar {
    let scalar = try Scalar(BN_new())
    repeat {
      try check(
        BN_priv_rand_range(scalar.pointer, EC_GROUP_get0_order(group)), "BN_priv_rand_range")
    } while BN_is_zero(scalar.pointer) == 1
    return scalar
  }

  /// Returns nil for bytes that are no point of the curve, and for the point at infinity. The curve has no points of
  /// small order.
  func point(_ bytes: [UInt8]) throws(SecurityError) -> Point? {
    let point = try newPoint()
    guard EC_POINT_oct2point(group, point.pointer, bytes, bytes.count, context) == 1,
      EC_POINT_is_on_curve(group, point.pointer, context) == 1, !isInfinity(point)
    else { return nil }
    return point
  }

  func isInfinity(_ point: borrowing Point) -> Bool {
    EC_POINT_is_at_infinity(group, point.pointer) == 1
  }

  /// Returns the uncompressed bytes.
  func bytes(_ point: borrowing Point) throws(SecurityError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.pointByteCount)
    let count = EC_POINT_point2oct(
      group, point.pointer, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context)
    try check(count == bytes.count ? 1 : 0, "EC_POINT_point2oct")
    return bytes
  }

  /// Returns the generator multiplied by `scalar`.
  func product(_ scalar: borrowing Scalar) throws(SecurityError) -> Point {
    let product = try newPoint()
    try check(
      EC_POINT_mul(group, product.pointer, scalar.pointer, nil, nil, context), "EC_POINT_mul")
    return product
  }

  func product(
    _ scalar: borrowing Scalar, _ point: borrowing Point
  ) throws(SecurityError) -> Point {
    let product = try newPoint()
    try check(
      EC_POINT_mul(group, product.pointer, nil, point.pointer, scalar.pointer, context),
      "EC_POINT_mul")
    return product
  }

  func sum(_ a: borrowing Point, _ b: borrowing Point) throws(SecurityError) -> Point {
    let sum = try newPoint()
    try check(EC_POINT_add(group, sum.pointer, a.pointer, b.pointer, context), "EC_POINT_add")
    return sum
  }

  func difference(_ a: borrowing Point, _ b: consuming Point) throws(SecurityError) -> Point {
    try check(EC_POINT_invert(group, b.pointer, context), "EC_POINT_invert")
    return try sum(a, b)
  }

  private func newPoint() throws(SecurityError) -> Point { try Point(EC_POINT_new(group)) }

  private func check(_ result: Int32, _ call: String) throws(SecurityError) {
    if result != 1 { throw SecurityError(call: call) }
  }
}
