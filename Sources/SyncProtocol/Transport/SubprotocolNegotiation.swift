package import SyncModel

/// The protocol that an upgrade agreed on.
package struct NegotiatedProtocol: Hashable, Sendable {
    package let mode: SyncMode
    /// The highest version that both sides speak.
    package let version: ProtocolVersion
    /// The highest that the client named, perhaps above what is known here: the build to encode for.
    package let highestOffered: ProtocolVersion

    /// The one token for the answer's `Sec-WebSocket-Protocol`.
    package var token: String { mode.subprotocolPrefix + version.description }
}

/// Why an upgrade cannot be answered with 101. A server answers 400: stock clients terminate on a 101 with a token that
/// they did not ask for.
package enum NegotiationRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case missing
    case malformed
    case mixedModes
    case noCommonVersion(highestOffered: ProtocolVersion)
    case tooMany

    package var description: String {
        switch self {
        case .missing: "Sec-WebSocket-Protocol: expected a sync protocol token, none came"
        case .malformed: "Sec-WebSocket-Protocol: a sync protocol token without a version from 2 up"
        case .mixedModes: "Sec-WebSocket-Protocol: both sync modes on one connection"
        case .noCommonVersion(let highest):
            "Sec-WebSocket-Protocol: versions \(ProtocolVersion.minimum) to \(ProtocolVersion.maximum) are spoken, "
                + "the highest offered is \(highest)"
        case .tooMany: "Sec-WebSocket-Protocol: too many tokens"
        }
    }
}

/// The choice of sync mode and version at the WebSocket upgrade (docs/protocol.md, "Upgrade").
package enum SubprotocolNegotiation {
    /// More than any client sends; one a version.
    static let maxTokens = 256

    /// Picks the highest common version. Tokens of other protocols are passed over; ranges such as `…#10-14` count.
    /// - Parameter header: the values of all `Sec-WebSocket-Protocol` headers, or single tokens.
    package static func choose(from header: [String]) throws(NegotiationRefusal) -> NegotiatedProtocol {
        var mode: SyncMode?
        var best: Int?
        var highest = 0
        let tokens = header.flatMap { $0.split(separator: ",", maxSplits: maxTokens) }
        guard tokens.count <= maxTokens else { throw .tooMany }
        for token in tokens.map({ trimmed($0) }) {
            guard let (tokenMode, range) = try versions(of: token) else { continue }
            guard mode == nil || mode == tokenMode else { throw .mixedModes }
            mode = tokenMode
            highest = max(highest, range.upperBound)
            let supported = ProtocolVersion.minimum.rawValue...ProtocolVersion.maximum.rawValue
            if range.overlaps(supported) {
                best = max(best ?? 0, min(range.upperBound, supported.upperBound))
            }
        }
        guard let mode else { throw .missing }
        guard let best else { throw .noCommonVersion(highestOffered: ProtocolVersion(highest)) }
        return NegotiatedProtocol(
            mode: mode, version: ProtocolVersion(best), highestOffered: ProtocolVersion(highest))
    }

    /// The tokens that a client offers: one a version, highest first.
    package static func offer(mode: SyncMode) -> [String] {
        (ProtocolVersion.minimum.rawValue...ProtocolVersion.maximum.rawValue).reversed()
            .map { "\(mode.subprotocolPrefix)\($0)" }
    }

    /// Reads the server's answer to `offer(mode:)`: exactly one token, of the mode and a version offered.
    package static func parseAnswer(_ value: String?, mode: SyncMode) throws(NegotiationRefusal) -> ProtocolVersion {
        guard let value else { throw .missing }
        guard value.hasPrefix(mode.subprotocolPrefix),
            let number = version(value.dropFirst(mode.subprotocolPrefix.count))
        else { throw .malformed }
        let version = ProtocolVersion(number)
        guard ProtocolVersion.supported.contains(version) else { throw .noCommonVersion(highestOffered: version) }
        return version
    }

    private static func versions(
        of token: Substring
    ) throws(NegotiationRefusal) -> (SyncMode, ClosedRange<Int>)? {
        guard let mode = SyncMode.allCases.first(where: { token.hasPrefix($0.subprotocolPrefix) }) else { return nil }
        let rest = token.dropFirst(mode.subprotocolPrefix.count)
        let bounds = rest.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        switch bounds.count {
        case 1:
            guard let only = version(bounds[0]) else { throw .malformed }
            return (mode, only...only)
        case 2:
            guard let low = version(bounds[0]), let high = version(bounds[1]), low <= high else { throw .malformed }
            return (mode, low...high)
        default: throw .malformed
        }
    }

    /// Up to four digits, no sign, no leading zero, at least 2.
    private static func version(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            text.utf8.first != 0x30, let number = Int(text), number >= 2
        else { return nil }
        return number
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = text.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}
