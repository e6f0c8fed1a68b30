/// The names of files that hold the objects of one class.
///
/// A client may give a class any name, `../../x` too. Bytes other than letters, digits, `_` and `-` are written as `%` and two hexadecimal
/// digits, as mongodump does with the names of collections.
package enum ClassFile {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The name of the file, without an extension.
    package static func name(ofClass className: String) -> String {
        var name: [UInt8] = []
        for byte in className.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): name.append(byte)
            default: name += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The class of a file, by the file's name without extensions. A `%` that no digits follow stands for itself.
    package static func className(ofFile name: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            let hex = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), hex.utf8.count == 2, hex.allSatisfy(\.isHexDigit),
                let code = UInt8(hex, radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
