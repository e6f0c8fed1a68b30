/// The order in which a connection tries the addresses of a broker's nodes. Pure.
///
/// Connections begin at a random address, so that they spread over the nodes. One that is lost begins with the address after that of the
/// lost one: a node that hangs takes connections for a while and answers none.
struct EndpointRotation {
    private let count: Int
    private var first: Int

    /// - Parameters:
    ///   - count: how many addresses there are.
    ///   - start: the address that is tried first; nil: any.
    init(count: Int, start: Int? = nil) {
        self.count = count
        first = count > 0 ? (start ?? .random(in: 0..<count)) % count : 0
    }

    /// Every address once, in the order of the next attempt.
    var order: [Int] { (0..<count).map { (first + $0) % count } }

    /// Takes note that the connection was made, or that no address could be reached.
    ///
    /// - Parameter address: nil if none could be reached.
    mutating func tried(reaching address: Int?) {
        guard count > 0 else { return }
        first = ((address ?? first) + 1) % count
    }
}
