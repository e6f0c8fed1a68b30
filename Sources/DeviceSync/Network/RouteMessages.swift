/// What the kernel says on a netlink socket about links, addresses and routes (rtnetlink(7)).
enum RouteMessages {
    /// The bytes of `struct nlmsghdr`: length, type, flags, sequence number, sender.
    private static let headerSize = 16
    // The kernel's constants, which never change.
    private static let newLink: UInt16 = 16
    private static let newAddress: UInt16 = 20
    private static let newRoute: UInt16 = 24
    /// `IFF_UP` and `IFF_RUNNING`: the link is switched on and has a carrier.
    private static let usable: UInt32 = 1 | 1 << 6

    /// Whether one datagram says that something has come which a server may be reached by: a link, an address or a route. What has gone is no reason to try again.
    static func tellOfNewWays(_ datagram: some RandomAccessCollection<UInt8>) -> Bool {
        var rest = datagram[...]
        while rest.count >= headerSize {
            let length = Int(rest.number(at: 0, as: UInt32.self))
            guard length >= headerSize, length <= rest.count else { return false }
            if isNewWay(rest.prefix(length)) { return true }
            // Messages begin at multiples of four.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }

    private static func isNewWay(_ message: some RandomAccessCollection<UInt8>) -> Bool {
        switch message.number(at: 4, as: UInt16.self) {
        case newAddress, newRoute: return true
        case newLink:
            // `struct ifinfomsg`: family, padding, type, index, and then the flags.
            guard message.count >= headerSize + 12 else { return false }
            return message.number(at: headerSize + 8, as: UInt32.self) & usable == usable
        default: return false
        }
    }
}

extension RandomAccessCollection<UInt8> {
    /// A number in this machine's order of bytes.
    fileprivate func number<Number: FixedWidthInteger>(at offset: Int, as _: Number.Type) -> Number {
        var number: Number = 0
        withUnsafeMutableBytes(of: &number) { target in
            for (place, byte) in zip(target.indices, dropFirst(offset)) { target[place] = byte }
        }
        return number
    }
}
