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
    /// Nothing was found yet but what the server made anew of the realm's state, when sync was terminated: clients begin after it, so nobody asks how
    /// its objects were before, and it has no images.
    private var isBeginning = true

    init?(_ record: RealmRecord) {
        guard record.name.isFlexible, let imaged = try? ImagedColumns(decoding: record.imaged),
            let schema = try? record.storedSchema()
        else { return nil }
        self.record = record
        self.imaged = imaged
        self.schema = schema
    }

    /// An image that tells what was by what is after the version.
    struct Claim {
        var version: ServerVersion
        var address: ObjectAddress
        var image: BeforeImages.Image
        var columns: [ColumnSchema]
        /// The imaged properties before the version.
        var before: StoredObject
    }

    /// - Parameter state: the replayed realm before the version, with everything that the version touches.
    /// - Returns: what is to be checked once the version is replayed.
    mutating func check(
        _ stored: HistoryRecord, _ changeset: Changeset, _ state: RealmState, _ findings: inout FindingList
    ) -> [Claim] {
        isBeginning = isBeginning && stored.entry.originFile == .server && stored.images.isEmpty
        guard !isBeginning else { return [] }
        var claims: [Claim] = []
        let images: [BeforeImages.Image]
        do throws(ChangesetError) {
            images = try BeforeImages(decoding: stored.images).images
        } catch {
            findings.add(.images, "the before images of version \(stored.version) cannot be read: \(error)")
            return []
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
            let columns = imaged.columns(of: table.id, at: stored.version).filter { !before.untold.contains($0) }
                .compactMap { id in table.columns.first { $0.id == id } }
            guard !image.isPartial else {
                claims.append(
                    Claim(
                        version: stored.version, address: address, image: image, columns: columns,
                        before: Self.values(of: columns, object, replayed)))
                continue
            }
            let wrong = columns.compactMap { column -> String? in
                let id = column.id
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
        return claims
    }

    /// - Parameter state: the replayed realm after the version.
    func check(_ claims: [Claim], _ state: RealmState, _ findings: inout FindingList) {
        for claim in claims {
            guard let after = state.object(claim.address), let table = state.schema.table(claim.address.className)
            else {
                findings.add(
                    .images,
                    "version \(claim.version) erases object \(claim.address.text), and its image refers to what comes after it"
                )
                continue
            }
            let told = claim.image.resolved(after: Self.values(of: claim.columns, after, table))
            let wrong = claim.columns.filter { told?[$0.id] != claim.before[$0.id] }
            guard !wrong.isEmpty else { continue }
            findings.add(
                .images,
                "version \(claim.version) has another image of object \(claim.address.text) in \(wrong.map(\.name.string).joined(separator: ", "))"
            )
        }
    }

    /// Properties of an object of the replayed realm, which numbers them otherwise, as the realm numbers them.
    private static func values(of columns: [ColumnSchema], _ object: StoredObject, _ table: TableSchema) -> StoredObject
    {
        var values = StoredObject()
        for column in columns {
            values[column.id] = table.column(column.name).flatMap { object[$0.id] } ?? column.defaultValue
        }
        return values
    }
}
