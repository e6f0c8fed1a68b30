#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How a text's bytes are compared.
protocol ByteReading {
    static func byte(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> UInt8
    /// Whether bytes are compared as they are.
    static var isPlain: Bool { get }
}

enum PlainBytes: ByteReading {
    @inline(__always)
    static func byte(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> UInt8 { text[position] }
    static var isPlain: Bool { true }
}

/// The bytes in lower case, as clients have it: a byte of a Latin-1 capital follows 0xC3.
enum FoldedBytes: ByteReading {
    @inline(__always)
    static func byte(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> UInt8 {
        let byte = text[position]
        guard byte >= 0x80 else { return byte.asciiLowercase }
        let isCapital = byte <= 0x9E && byte != 0x97 && position > 0 && text[position - 1] == 0xC3
        return isCapital ? byte + 0x20 : byte
    }
    static var isPlain: Bool { false }
}

/// One search of one text, with what it takes.
struct TextSearch {
    private let text: UnsafeBufferPointer<UInt8>
    private let pattern: UnsafeBufferPointer<UInt8>
    /// The number of pairs of bytes after which the search ends without a result.
    private let most: Int
    /// Pairs of bytes that were compared.
    private var compared = 0
    /// Bytes that were looked at in the fastest way.
    private var skimmed = 0

    /// A needle in a text with fewer pairs of bytes than this is looked for pair by pair.
    private static let fewPairs = 1_024
    private static let bytesSkimmedPerStep = 32
    private static let star = UInt8(ascii: "*")
    private static let mark = UInt8(ascii: "?")

    init(text: UnsafeBufferPointer<UInt8>, pattern: UnsafeBufferPointer<UInt8>, budget: Int = .max) {
        self.text = text
        self.pattern = pattern
        most = budget < .max / 2 ? budget * 2 : .max
    }

    /// Two pairs of bytes in a step.
    var steps: Int { compared / 2 + skimmed / Self.bytesSkimmedPerStep }

    mutating func holds<Bytes: ByteReading>(_ op: ComparisonOperator, as bytes: Bytes.Type) -> Bool {
        switch op {
        case .contains: find(0..<pattern.count, from: 0, bytes) != nil
        case .beginsWith: isEqual(0..<pattern.count, at: 0, bytes)
        case .endsWith: isEqual(0..<pattern.count, at: text.count - pattern.count, bytes)
        case .like: like(bytes)
        default: false
        }
    }

    // MARK: Pieces of the pattern

    /// Whether the text has a piece of the pattern at a position.
    private mutating func isEqual<Bytes: ByteReading>(_ piece: Range<Int>, at position: Int, _: Bytes.Type) -> Bool {
        guard position >= 0, position + piece.count <= text.count else { return false }
        var length = 0
        while length < piece.count,
            Bytes.byte(text, position + length) == Bytes.byte(pattern, piece.lowerBound + length)
        {
            length += 1
        }
        compared += length + 1
        return length == piece.count
    }

    /// Where the text has a piece of the pattern first, from a position on.
    private mutating func find<Bytes: ByteReading>(
        _ piece: Range<Int>, from start: Int, _ bytes: Bytes.Type
    ) -> Int? {
        let (count, last) = (piece.count, text.count - piece.count)
        if count == 0 { return start <= text.count ? start : nil }
        guard start <= last else { return nil }
        if count == 1 || (last - start + 1).multipliedReportingOverflow(by: count).partialValue <= Self.fewPairs {
            var position = start
            while let next = skim(to: piece.lowerBound, from: position, through: last, bytes) {
                if isEqual(piece, at: next, bytes) { return next }
                position = next + 1
            }
            return nil
        }
        return findTwoWay(piece, from: start, bytes)
    }

    /// The first position of the text, up to a last one, that has the pattern's byte.
    @inline(__always)
    private mutating func skim<Bytes: ByteReading>(
        to index: Int, from start: Int, through last: Int, _: Bytes.Type
    ) -> Int? {
        guard start <= last, let base = text.baseAddress else { return nil }
        let wanted = Bytes.byte(pattern, index)
        if Bytes.isPlain {
            guard let found = memchr(base + start, Int32(wanted), last - start + 1) else {
                skimmed += last - start + 1
                return nil
            }
            let position = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            skimmed += position - start + 1
            return position
        }
        var position = start
        while position <= last, Bytes.byte(text, position) != wanted { position += 1 }
        compared += position - start + 1
        return position <= last ? position : nil
    }

    // MARK: Two-way search

    /// Crochemore and Perrin's two-way search: at most two comparisons for each byte of the text and a few for each of the needle,
    /// and nothing to be kept.
    private mutating func findTwoWay<Bytes: ByteReading>(
        _ piece: Range<Int>, from start: Int, _ bytes: Bytes.Type
    ) -> Int? {
        let (count, low) = (piece.count, piece.lowerBound)
        @inline(__always) func needle(_ index: Int) -> UInt8 { Bytes.byte(pattern, low + index) }
        let ascending = maximalSuffix(piece, bytes, descending: false)
        let descending = maximalSuffix(piece, bytes, descending: true)
        // The needle's right part begins here.
        let (cut, period) = ascending.start > descending.start ? ascending : descending
        var isPeriodic = true
        for index in 0..<cut where needle(index) != needle(index + period) {
            isPeriodic = false
            break
        }
        compared += cut
        let shift = isPeriodic ? period : max(cut, count - cut) + 1
        // How much of the needle's beginning is known to be there.
        var known = 0
        var position = start
        let last = text.count - count
        while position <= last {
            if known == 0 {
                guard let next = skim(to: low + cut, from: position + cut, through: last + cut, bytes) else {
                    return nil
                }
                position = next - cut
            }
            let from = max(cut, known)
            var index = from
            while index < count, needle(index) == Bytes.byte(text, position + index) { index += 1 }
            compared += index - from + 1
            if index < count {
                position += index - cut + 1
                known = 0
                continue
            }
            index = cut
            while index > known, needle(index - 1) == Bytes.byte(text, position + index - 1) { index -= 1 }
            compared += cut - index + 1
            if index <= known { return position }
            position += shift
            known = isPeriodic ? count - period : 0
        }
        return nil
    }

    /// Where the greatest suffix of the needle begins, by one order of bytes or the other, and its period.
    private mutating func maximalSuffix<Bytes: ByteReading>(
        _ piece: Range<Int>, _: Bytes.Type, descending: Bool
    ) -> (start: Int, period: Int) {
        let (count, low) = (piece.count, piece.lowerBound)
        var (start, ahead, offset, period) = (0, 1, 0, 1)
        while ahead + offset < count {
            let (left, right) = (
                Bytes.byte(pattern, low + ahead + offset), Bytes.byte(pattern, low + start + offset)
            )
            compared += 1
            if left == right {
                if offset + 1 == period {
                    ahead += period
                    offset = 0
                } else {
                    offset += 1
                }
            } else if (left < right) != descending {
                ahead += offset + 1
                offset = 0
                period = ahead - start
            } else {
                start = ahead
                ahead += 1
                offset = 0
                period = 1
            }
        }
        return (start, period)
    }

    // MARK: LIKE

    /// Matches the pattern from star to star: what stands between two of them is taken where it comes first, which no later place
    /// could better.
    private mutating func like<Bytes: ByteReading>(_ bytes: Bytes.Type) -> Bool {
        let length = pattern.count
        var (position, at) = (0, 0)
        var retry: (position: Int, at: Int)?
        while true {
            if position == text.count {
                let rest = length - at
                return rest == 0 || (rest == 1 && pattern[at] == Self.star)
            }
            compared += 1
            if compared > most { return false }
            if at < length {
                let wanted = pattern[at]
                if wanted == Self.star {
                    at += 1
                    if at == length { return true }
                    retry = (position, at)
                    // Without marks, what follows is found as any text is.
                    guard let end = plainEnd(after: at), end > at else { continue }
                    if end == length { return isEqual(at..<end, at: endStart(at, end, position), bytes) }
                    guard let found = find(at..<end, from: position, bytes) else { return false }
                    (position, at) = (found + (end - at), end)
                    continue
                }
                if wanted == Self.mark {
                    let isWide = text[position] & 0x80 != 0
                    position += 1
                    while isWide, position < text.count, text[position] & 0xC0 == 0x80 {
                        position += 1
                        compared += 1
                    }
                    at += 1
                    continue
                }
                if Bytes.byte(pattern, at) == Bytes.byte(text, position) {
                    position += 1
                    at += 1
                    continue
                }
            }
            // The last star takes one byte more: no earlier one has to.
            guard let last = retry else { return false }
            retry = (last.position + 1, last.at)
            position = last.position + 1
            at = last.at
        }
    }

    /// Where the bytes before the next star or the pattern's end stop; nil if there is a mark among them.
    private mutating func plainEnd(after start: Int) -> Int? {
        var end = start
        while end < pattern.count, pattern[end] != Self.star {
            if pattern[end] == Self.mark { return nil }
            end += 1
        }
        compared += end - start
        return end
    }

    /// Where the pattern's last piece has to begin, -1 if that is before a position.
    private func endStart(_ start: Int, _ end: Int, _ position: Int) -> Int {
        let begin = text.count - (end - start)
        return begin >= position ? begin : -1
    }
}
