extension BinaryInteger {
    /// The number with what it counts, as one says it: "1 slice", "2 slices".
    ///
    /// - Parameters:
    ///   - one: the name of one.
    ///   - many: the name of several; nil: `one` with an s.
    package func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
