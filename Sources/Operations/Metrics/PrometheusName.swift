/// How metric and label names and values are written for Prometheus (text format 0.0.4).
enum PrometheusName {
    /// Dots and whatever else a name may not hold become underscores.
    static func metric(_ label: String) -> String { sanitized(label, allowsColon: true) }

    static func label(_ name: String) -> String {
        let sanitized = sanitized(name, allowsColon: false)
        // `le` belongs to histograms.
        return sanitized == "le" ? "le_" : sanitized
    }

    /// Longer values are cut: nobody reads them, and they cost memory for ever.
    static let maxValueCharacters = 128

    static func escaped(_ value: String) -> String {
        var result = ""
        for character in value.prefix(maxValueCharacters).unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
        return String(value)
    }

    static func withSuffix(_ name: String, _ suffix: String) -> String {
        name.hasSuffix("_\(suffix)") ? name : "\(name)_\(suffix)"
    }

    private static func sanitized(_ text: String, allowsColon: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": result.unicodeScalars.append(scalar)
            case "0"..."9":
                if result.isEmpty { result += "_" }
                result.unicodeScalars.append(scalar)
            case ":" where allowsColon: result += ":"
            default: result += "_"
            }
        }
        return result.isEmpty ? "_" : result
    }
}
