package import Changesets
package import SyncModel

/// The places of the last changes of a realm that were told: of all, and of each class. By these each change says what it follows.
package struct ToldChanges: Sendable, Equatable {
    /// The last change; nil if nothing was told.
    private var last: ChangePlace?
    /// The erasure of the realm that had the name before: every class follows it.
    private var erasure: ChangePlace?
    private var classes: [ByteString: ChangePlace] = [:]

    private static let format: UInt64 = 1

    package init() {}

    /// - Parameter erasure: the place of the change that said that the realm of the name before is gone.
    package init(after erasure: ChangePlace) {
        last = erasure
        self.erasure = erasure
    }

    /// Notes a change.
    ///
    /// - Returns: what the change follows.
    package mutating func tell(_ place: ChangePlace, of className: ByteString) -> ChangePredecessors {
        let before = ChangePredecessors(
            inRealm: last, inClass: classes.updateValue(place, forKey: className) ?? erasure)
        last = place
        return before
    }

    /// The bytes that a store keeps; none where nothing was told.
    package func encoded() -> [UInt8] {
        guard let last else { return [] }
        var writer = VarintWriter()
        writer.write(Self.format)
        writer.write(last)
        writer.write(erasure != nil)
        if let erasure { writer.write(erasure) }
        writer.write(UInt64(classes.count))
        for (name, place) in classes.sorted(by: { $0.key < $1.key }) {
            writer.write(lengthAnd: name)
            writer.write(place)
        }
        return writer.bytes
    }

    /// - Throws: `corrupt` if the bytes are not what `encoded` wrote.
    package init(decoding bytes: [UInt8]) throws(StoreError) {
        guard !bytes.isEmpty else { return }
        do {
            var reader = VarintReader(bytes)
            guard try reader.readUInt64() == Self.format else { throw reader.malformed("another format") }
            last = try reader.readChangePlace()
            if try reader.readBool() { erasure = try reader.readChangePlace() }
            for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "classes")) {
                let count = try reader.readLength(limit: reader.remaining, what: "bytes of a class's name")
                let name = ByteString(try reader.readBytes(count))
                classes[name] = try reader.readChangePlace()
            }
            guard reader.isAtEnd else { throw reader.malformed("bytes after the last class") }
        } catch {
            throw StoreError(.corrupt, "the places of a realm's last changes cannot be read: \(error)")
        }
    }
}

extension VarintWriter {
    fileprivate mutating func write(_ place: ChangePlace) {
        write(place.generation)
        write(place.version.rawValue)
        write(UInt64(clamping: place.index))
    }
}

extension VarintReader {
    fileprivate mutating func readChangePlace() throws(ChangesetError) -> ChangePlace {
        ChangePlace(
            generation: try readUInt64(), version: ServerVersion(try readUInt64()),
            index: Int(clamping: try readUInt64()))
    }
}
