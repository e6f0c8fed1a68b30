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
        /// The imaged columns; nil if there was no such object.
        package var before: StoredObject?

        package init(_ slot: ObjectSlot, before: StoredObject?) {
            self.slot = slot
            self.before = before
        }
    }

    package var images: [Image]

    package init(_ images: [Image] = []) { self.images = images }

    package func encoded() -> [UInt8] {
        guard !images.isEmpty else { return [] }
        var writer = VarintWriter()
        writer.write(UInt64(images.count))
        for image in images {
            writer.write(image.slot.table.rawValue)
            writer.write(detached: image.slot.key)
            writer.write(image.before != nil)
            if let before = image.before { writer.write(lengthAnd: before.encoded()) }
        }
        return writer.bytes
    }

    /// - Throws: if the bytes are not what `encoded` wrote.
    package init(decoding bytes: [UInt8]) throws(ChangesetError) {
        images = []
        guard !bytes.isEmpty else { return }
        var reader = VarintReader(bytes)
        let count = try reader.readLength(limit: reader.remaining, what: "images")
        images.reserveCapacity(count)
        for _ in 0..<count {
            let slot = ObjectSlot(TableID(rawValue: try reader.readUInt32()), try reader.readDetachedKey())
            guard try reader.readBool() else {
                images.append(Image(slot, before: nil))
                continue
            }
            let length = try reader.readLength(limit: reader.remaining, what: "an image")
            let body = try reader.readBytes(length)
            do throws(RealmStateError) {
                images.append(Image(slot, before: try StoredObject(decoding: body)))
            } catch {
                throw reader.malformed("\(error)")
            }
        }
        guard reader.isAtEnd else { throw reader.malformed("bytes after the images") }
    }
}
