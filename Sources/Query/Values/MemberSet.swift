import Changesets
package import RealmState

/// The values of a list, held once for all that look at it: in their order, and so that one look tells whether another is among them.
package final class MemberSet: Sendable {
    private enum Content: Sendable {
        case values([Value], Set<Value>)
        /// Many strings, which do not lie apart in memory.
        case texts(TextSet)
    }

    private let content: Content
    /// The bytes of the longest value: no longer one is among the values.
    private let maxBytes: Int

    /// Fewer strings than this take no less together.
    private static let few = 16

    init(_ values: [Value]) {
        maxBytes = values.reduce(0) { max($0, $1.byteCount) }
        let texts = values.count < Self.few ? nil : TextSet(values)
        content = texts.map { .texts($0) } ?? .values(values, Set(values))
    }

    package var values: [Value] {
        switch content {
        case .values(let values, _): values
        case .texts(let texts): texts.values
        }
    }

    var count: Int {
        switch content {
        case .values(let values, _): values.count
        case .texts(let texts): texts.count
        }
    }

    /// What the values take in memory, about.
    var bytes: Int {
        switch content {
        case .values(let values, let set):
            values.reduce(values.count * 2 * MemoryLayout<Value>.stride + set.count * MemoryLayout<Value>.stride) {
                $0 + ($1.byteCount > 0 ? $1.byteCount + 48 : 0)
            }
        case .texts(let texts): texts.bytes
        }
    }

    func contains(_ value: Value, _ meter: EvaluationMeter?) -> Bool {
        let bytes = value.byteCount
        guard bytes <= maxBytes else { return false }
        // Hashing takes longer than comparing.
        if let meter { meter.take(bytes / 4) }
        switch content {
        case .values(_, let set): return set.contains(value)
        case .texts(let texts):
            if case .string(let text) = value { return texts.contains(text) } else { return false }
        }
    }
}

extension MemberSet: Hashable {
    package static func == (left: MemberSet, right: MemberSet) -> Bool { left === right || left.values == right.values }
    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// Strings one behind the other, and a table of where each is.
private struct TextSet: Sendable {
    private var texts: [UInt8] = []
    /// Where each string ends.
    private var ends: [UInt32] = []
    /// Numbers of strings, from 1; 0: nothing is here. A string is at its hash, or behind it.
    private var table: [UInt32]

    /// Nil if something else than strings is among the values, or too much.
    init?(_ values: [Value]) {
        var size = 32
        while size < 2 * values.count { size *= 2 }
        table = [UInt32](repeating: 0, count: size)
        ends.reserveCapacity(values.count)
        var bytes = 0
        for value in values {
            guard case .string(let text) = value else { return nil }
            bytes += text.count
        }
        guard bytes < Int(UInt32.max), values.count < Int(UInt32.max) else { return nil }
        texts.reserveCapacity(bytes)
        for value in values {
            guard case .string(let text) = value else { continue }
            text.withUnsafeBytes { texts += $0 }
            ends.append(UInt32(texts.count))
            let (position, isKnown) = find(text)
            if !isKnown { table[position] = UInt32(ends.count) }
        }
    }

    var count: Int { ends.count }
    var bytes: Int { texts.count + 4 * (ends.count + table.count) }
    var values: [Value] { ends.indices.map { .string(ByteString(texts[range($0)])) } }

    func contains(_ text: ByteString) -> Bool { find(text).isKnown }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index]) }

    /// Where a string is, or is to be.
    private func find(_ text: ByteString) -> (position: Int, isKnown: Bool) {
        text.withUnsafeBytes { find($0) }
    }

    private func find(_ text: UnsafeRawBufferPointer) -> (position: Int, isKnown: Bool) {
        var hasher = Hasher()
        hasher.combine(bytes: text)
        let mask = table.count - 1
        var position = hasher.finalize() & mask
        while table[position] != 0 {
            let known = range(Int(table[position]) - 1)
            if known.count == text.count, texts[known].elementsEqual(text) { return (position, true) }
            position = (position + 1) & mask
        }
        return (position, false)
    }
}
