import ArgumentParser
import Storage
import SyncModel

struct RealmsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realms",
        abstract: "List, show, verify, mend, export or erase what is stored of realms.",
        discussion: """
            List, show, verify and erase ask the coordinator, and mend the realm's owner. Export reads the store \
            itself, beside a running cluster or without one, and changes nothing; what is read of a realm is as it \
            was at one moment.

              sluice realms list --app tasks
              sluice realms verify --all
              sluice realms export --app tasks --realm store-nw > store-nw.jsonl
            """,
        subcommands: [
            RealmsList.self, RealmsShow.self, RealmsVerify.self, RealmsMend.self, RealmsExport.self, RealmsErase.self,
        ],
        defaultSubcommand: RealmsList.self)
}

/// The store's slices, for reading.
struct StoredRealms {
    let stores: any StoreInspector
    /// The slices that have a store.
    let slices: [SliceNumber]
    let count: SliceCount

    init(_ settings: ClusterSettings) async throws {
        stores = try settings.stores().inspector()
        slices = try await stores.slices()
        count = try settings.sliceCount()
        guard let beyond = slices.last(where: { $0.value >= count.value }) else { return }
        throw CommandFailure(
            .badInput, "the store has a slice \(beyond), and the settings say \(count.value) slices: set SLUICE_SLICES")
    }

    /// The slice that a realm lives in.
    func reader(of name: RealmName) async throws -> any SliceReader {
        let slice = name.slice(of: count)
        do throws(StoreError) {
            return try await stores.reader(for: slice)
        } catch {
            guard error.code == .notFound else { throw error }
            throw Self.missing(name)
        }
    }

    static func missing(_ name: RealmName) -> CommandFailure {
        CommandFailure(
            .notFound, "there is no realm \(RealmName.shown(name.partition)) of app \(name.app) in the store")
    }

    /// Visits all realms, slice by slice.
    func forEach(app: String?, _ body: (RealmRecord, any SliceReader) async throws -> Void) async throws {
        for slice in slices {
            let reader = try await stores.reader(for: slice)
            try await reader.forEachRealm(app: app) { try await body($0, reader) }
        }
    }
}

/// The realm that a command is about.
struct RealmOptions: ParsableArguments {
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The realm's partition value: a word, or extended JSON such as {\"$oid\":\"...\"}.") var realm:
        String?
    @Flag(help: "The one realm of an app in flexible mode, instead of --realm.") var flexible = false

    func validate() throws {
        if flexible == (realm != nil) {
            throw ValidationError("give --realm, or --flexible for an app in flexible mode")
        }
    }

    var name: RealmName {
        realm.map { RealmName(app: app, partition: RealmName.partition(fromText: $0)) } ?? RealmName(flexible: app)
    }
}

extension RealmName {
    /// The partition as tables show it.
    static func shown(_ partition: String) -> String { partition.isEmpty ? "(flexible)" : partition.oneLine }
}
