/// 24 hexadecimal digits that start with the time, as clients expect of user, device and session ids.
package enum ObjectID {
    package static func make(at unixMilliseconds: UInt64) -> String {
        var generator = SystemRandomNumberGenerator()
        let seconds = UInt32(truncatingIfNeeded: unixMilliseconds / 1000)
        return hex(UInt64(seconds), digits: 8) + hex(generator.next(), digits: 16)
    }

    package static func hex(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
