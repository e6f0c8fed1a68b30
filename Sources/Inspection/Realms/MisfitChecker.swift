import Changesets
import RealmState
import Storage
import SyncModel

/// Gathers what stock clients cannot go on with (docs/changesets.md, "What stock clients cannot apply"): in a realm's objects, and in versions
/// and bases that clients may still be sent.
struct MisfitChecker {
    private static let maxVersions = 1_000
    private var objects = FindingList()
    private var base = FindingList()
    private var versions: [(version: ServerVersion, what: String)] = []
    /// The earliest version that some live client file has seen everything up to.
    private var earliest: ServerVersion?

    /// The state is about to be gone through, perhaps once more.
    mutating func beginState(_ schema: Schema) {
        objects = FindingList()
        for table in schema.tables {
            for column in table.columns where column.element.target?.isEmpty == true {
                objects.add(
                    .misfits,
                    "\(table.name.string).\(column.name.string) links to objects of any class: no stock client can have it"
                )
            }
        }
    }

    mutating func check(_ object: StoredObject, _ address: ObjectAddress, _ schema: Schema) {
        for misfit in object.misfits(address, in: schema) {
            objects.add(.misfits, "object \(address.text): \(misfit); sluice realms mend takes it out")
        }
    }

    mutating func check(_ changeset: Changeset, at version: ServerVersion, _ schema: Schema) {
        guard versions.count < Self.maxVersions, let misfit = changeset.misfits(in: schema).first else { return }
        versions.append((version, "\(misfit)"))
    }

    /// Notes a version that stock clients cannot apply to what they have by then, although every value of it fits.
    ///
    /// - Parameter replayed: what the version is applied to, with the objects that it touches.
    mutating func check(_ changeset: Changeset, at version: ServerVersion, on replayed: RealmState) {
        guard versions.count < Self.maxVersions, replayed.applicable(changeset) != changeset else { return }
        versions.append(
            (
                version,
                "an instruction that stock clients cannot apply: null taken out of a set, or an entry cleared that is not there"
            ))
    }

    mutating func check(_ changeset: Changeset, ofBase version: ServerVersion, _ schema: Schema) {
        guard let misfit = changeset.misfits(in: schema).first else { return }
        base.add(.misfits, "the base of version \(version), which new clients are sent, has \(misfit)")
    }

    mutating func check(_ file: ClientFileRecord) {
        guard file.state == .live else { return }
        earliest = min(earliest ?? file.seenServerVersion, file.seenServerVersion)
    }

    /// - Parameter start: the version after which a new client is sent the history.
    func finish(from start: ServerVersion, _ findings: inout FindingList) {
        findings.add(objects)
        findings.add(base)
        let after = min(start, earliest ?? start)
        for (version, what) in versions where version > after {
            findings.add(.misfits, "version \(version), which clients may still be sent, has \(what)")
        }
    }
}
