package import Changesets
package import RealmState

/// Names an object by its table's number in the realm's schema, and its key.
package struct ObjectSlot: Hashable, Sendable {
    package var table: TableID
    package var key: ObjectKey

    package init(_ table: TableID, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}

/// The objects that one version of a realm's history touches, as they were before it, as far as views look at them.
package struct BeforeImages: Equatable, Sendable {
    package struct Image: Equatable, Sendable {
        package var slot: ObjectSlot
        /// The imaged columns; nil if there was no such object. What was too large to be kept is among its `untold`.
        package var before: StoredObject?
        /// `before` has what the version changes, and some of the rest: whatever it lacks was before the version as it was after it.
        package var isPartial: Bool

        package init(_ slot: ObjectSlot, before: StoredObject?, isPartial: Bool = false) {
            self.slot = slot
            self.before = before
            self.isPartial = isPartial
        }

        /// The imaged columns before the version.
        ///
        /// - Parameter after: as they were after it; nil: there was no such object.
        package func resolved(after: StoredObject?) -> StoredObject? {
            guard isPartial, let before else { return before }
            guard var whole = after else { return before }
            var untold = Set(whole.untold)
            for entry in before.entries where entry.column < .spliced {
                whole[entry.column] = entry.value
                untold.remove(entry.column)
            }
            for (column, splice) in before.splices where !untold.contains(column) {
                if let value = whole[column].flatMap({ splice.before(after: $0) }) {
                    whole[column] = value
                } else {
                    untold.insert(column)
                }
            }
            whole.untold = untold.union(before.untold).sorted()
            return whole
        }

        /// Whether the version may have changed some of the columns.
        ///
        /// - Parameter after: the object as it was after the version.
        package func changes(_ columns: [ColumnID], after: StoredObject?) -> Bool {
            guard isPartial, let before, let after else { return true }
            let untold = before.untold
            let spliced = before.splices.keys
            return columns.contains { column in
                untold.contains(column) || spliced.contains(column)
                    || before[column].map { $0 != after[column] } ?? false
            }
        }
    }

    package var images: [Image]

    package init(_ images: [Image] = []) { self.images = images }

    /// The object as it was before each of some versions, of which each follows the one before: none in between touches the object.
    ///
    /// - Parameter now: the object after the last of them.
    package static func resolved(_ images: [Image], now: StoredObject?) -> [StoredObject?] {
        var after = now
        var states: [StoredObject?] = []
        states.reserveCapacity(images.count)
        for image in images.reversed() {
            after = image.resolved(after: after)
            states.append(after)
        }
        return states.reversed()
    }

    // MARK: As bytes

    /// The bytes that a release before reads, as long as no image is partial.
    package func encoded() -> [UInt8] {
        guard !images.isEmpty else { return [] }
        var writer = VarintWriter()
        let hasPartial = images.contains(where: \.isPartial)
        if hasPartial {
            // A release before takes that for no images, and refuses what follows.
            writer.write(UInt64(0))
            writer.write(Self.partialFormat)
        }
        writer.write(UInt64(images.count))
        for image in images {
            writer.write(image.slot.table.rawValue)
            writer.write(detached: image.slot.key)
            writer.write(image.before != nil)
            if hasPartial { writer.write(image.isPartial) }
            if let before = image.before { writer.write(lengthAnd: before.encoded()) }
        }
        return writer.bytes
    }

    private static let partialFormat: UInt64 = 1

    /// - Throws: if the bytes are not what `encoded` wrote.
    package init(decoding bytes: [UInt8]) throws(ChangesetError) {
        images = []
        guard !bytes.isEmpty else { return }
        var reader = VarintReader(bytes)
        var count = try reader.readLength(limit: reader.remaining, what: "images")
        let hasPartial = count == 0 && !reader.isAtEnd
        if hasPartial {
            guard try reader.readUInt64() == Self.partialFormat else {
                throw reader.malformed("images of another version")
            }
            count = try reader.readLength(limit: reader.remaining, what: "images")
        }
        images.reserveCapacity(count)
        for _ in 0..<count {
            let slot = ObjectSlot(TableID(rawValue: try reader.readUInt32()), try reader.readDetachedKey())
            let exists = try reader.readBool()
            let isPartial = hasPartial ? try reader.readBool() : false
            guard exists else {
                images.append(Image(slot, before: nil))
                continue
            }
            let length = try reader.readLength(limit: reader.remaining, what: "an image")
            let body = try reader.readBytes(length)
            do throws(RealmStateError) {
                images.append(Image(slot, before: try StoredObject(decoding: body), isPartial: isPartial))
            } catch {
                throw reader.malformed("\(error)")
            }
        }
        guard reader.isAtEnd else { throw reader.malformed("bytes after the images") }
    }
}
