import Changesets
import RealmState
import Storage
import SyncModel
import Views

/// Checks the before images of a flexible realm's history, by which it is told what clients have: each must be what the replayed realm has
/// just before the version.
struct ImageChecker {
    private let record: RealmRecord
    private let imaged: ImagedColumns
    private let schema: Schema

    init?(_ record: RealmRecord) {
        guard record.name.isFlexible, let imaged = try? ImagedColumns(decoding: record.imaged),
            let schema = try? record.storedSchema()
        else { return nil }
        self.record = record
        self.imaged = imaged
        self.schema = schema
    }

    /// - Parameter state: the replayed realm before the version, with everything that the version touches.
    func check(_ stored: HistoryRecord, _ changeset: Changeset, _ state: RealmState, _ findings: inout FindingList) {
        let images: [BeforeImages.Image]
        do throws(ChangesetError) {
            images = try BeforeImages(decoding: stored.images).images
        } catch {
            return findings.add(.images, "the before images of version \(stored.version) cannot be read: \(error)")
        }
        var expected: Set<ObjectAddress> = []
        for address in changeset.touchedAddresses {
            // Objects of asymmetric classes are in no view, so nobody asks how they were.
            if let table = schema.table(address.className), table.kind != .asymmetric { expected.insert(address) }
        }
        for image in images {
            guard let table = schema.table(image.slot.table) else {
                findings.add(.images, "version \(stored.version) has an image of a class that the schema does not have")
                continue
            }
            let address = ObjectAddress(table.name, image.slot.key)
            expected.remove(address)
            let object = state.object(address)
            guard (object == nil) == (image.before == nil) else {
                findings.add(
                    .images,
                    "version \(stored.version) has an image by which object \(address.text) \(object == nil ? "existed" : "did not exist") before it"
                )
                continue
            }
            guard let object, let before = image.before, let replayed = state.schema.table(table.name) else { continue }
            let wrong = imaged.columns(of: table.id, at: stored.version).compactMap { id -> String? in
                guard let column = table.columns.first(where: { $0.id == id }) else { return nil }
                let now = replayed.column(column.name).flatMap { object[$0.id] } ?? column.defaultValue
                return (before[id] ?? column.defaultValue) == now ? nil : column.name.string
            }
            if !wrong.isEmpty {
                findings.add(
                    .images,
                    "version \(stored.version) has another image of object \(address.text) in \(wrong.joined(separator: ", "))"
                )
            }
        }
        for address in expected.sorted(by: <) {
            findings.add(.images, "version \(stored.version) has no image of object \(address.text)")
        }
    }
}
