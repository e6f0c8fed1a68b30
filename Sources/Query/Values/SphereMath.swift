#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The circular functions, from the platform's C library.
enum SphereMath {
    static func sineAndCosine(_ angle: Double) -> (Double, Double) { (sin(angle), cos(angle)) }

    /// Returns the angle with this sine and cosine, between -pi and pi.
    static func angle(sine: Double, cosine: Double) -> Double { atan2(sine, cosine) }
}
