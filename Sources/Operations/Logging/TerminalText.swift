extension Unicode.Scalar {
    /// Whether it may steer a terminal, or has text look like another: control characters, and those that turn or join what stands about them.
    var steersTerminals: Bool {
        guard !isASCII else { return value < 0x20 || value == 0x7f }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return true
        default: return false
        }
    }

    /// The scalar as a JSON text may escape it, and so may any other text.
    var escaped: String {
        UTF16.encode(self).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}

extension String {
    /// The text as a terminal may be shown it, whoever has chosen what stands in it: what would steer it is escaped, but for tabs and ends of lines.
    /// A text that is JSON says the same as before.
    package var forTerminals: String {
        guard unicodeScalars.contains(where: { $0.steersTerminals && $0 != "\n" && $0 != "\t" }) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.steersTerminals, scalar != "\n", scalar != "\t" {
                result += scalar.escaped
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
