import Gateway
import MergeConformance
import NIOCore

enum ProxyFuzz {
    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        let whole = read(bytes)
        if case .header(let header) = whole {
            try BrokenLaw.check(header.length <= bytes.count, "a header is longer than what came")
        }
        // Only the lengths of a longer input where the outcome can change are of interest.
        for count in 0...min(bytes.count, 600) {
            switch (read(Array(bytes.prefix(count))), whole) {
            case (.tooShort, _): continue
            case (.header(let part), .header(let all)):
                try BrokenLaw.check(part == all, "the beginning of a header says something else than all of it")
            case (.malformed, .malformed): continue
            default: throw BrokenLaw("the beginning of a header is judged otherwise than all of it")
            }
        }
    }

    private enum Outcome {
        case tooShort
        case header(ProxyHeader)
        case malformed
    }

    private static func read(_ bytes: [UInt8]) -> Outcome {
        do throws(ProxyHeader.Malformed) {
            return try ProxyHeader.read(ByteBuffer(bytes: bytes).readableBytesView).map { .header($0) } ?? .tooShort
        } catch {
            return .malformed
        }
    }
}
