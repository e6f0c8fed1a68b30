import AdminAPI
import ArgumentParser
import NIOCore
import SyncModel

struct CampaignsPlan: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show whom a termination would make reset, and what is known to be at risk. Changes nothing.",
        discussion: """
            The server knows which client realms there are, when each was last heard of, and what waits in the \
            queues. It does not know what a device that is offline has written since: only the device does, until it \
            resets and says how that ended. An idle session is heard of when it begins and when it uploads, not in \
            between.
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "List so many of the client realms that were not seen for longest.") var limit = 20

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.terminationPlan.path(app, query: [(.limit, "\(limit)")])
        let plan: PlanDocument = try await admin.ask(path, timeout: .seconds(600))
        output.json ? try Printing.json(plan) : show(plan)
    }

    private func show(_ plan: PlanDocument) {
        Printing.line(
            """
            a termination of \(plan.app) now (sync \(plan.syncState), generation \(plan.generation))

            would reset    \(plan.clientRealms.counted("client realm")) of \(plan.realms.counted("realm")); \(plan.writers) of them have ever uploaded
            taken over     \(plan.alreadyResetting) beside them that an earlier campaign makes reset already
            recovery       \(plan.clientRecovery ? "allowed: clients keep their unsynced changes if they can" : "off: clients discard or keep a backup")
            on the way     \(plan.waiting.ready.counted("message")) ready and \(plan.waiting.unacknowledged) with the workers, of all apps; they are dealt with first
            """)
        if let bytes = plan.unsyncedBytes {
            Printing.line(
                "at risk        \(bytes.counted("byte")) of unsynced work known: with gateways, and integrated by no owner yet"
            )
        }
        if !plan.waiting.unknownSlices.isEmpty {
            let slices = plan.waiting.unknownSlices.map(\.description).joined(separator: ", ")
            Printing.line("               slices \(slices) have no owner or no queue: what waits there is not known")
        }
        Printing.line(
            "not known      what \(plan.offlineWriters.counted("writer")) not seen for an hour may have written since\n"
        )
        let ages = plan.lastSeen.map { [Self.text($0.within), "\($0.clientRealms)", "\($0.writers)"] }
        Printing.line(Table("LAST SEEN", "CLIENT REALMS", "WRITERS", rows: ages).rendered())
        let platforms = plan.platforms.map { [$0.platform, "\($0.clientRealms)"] }
        Printing.line("\n" + Table("PLATFORM", "CLIENT REALMS", rows: platforms).rendered())
        let listed = plan.listed.map { realm in
            [
                "\(realm.clientFile)", RealmName.shown(realm.partition), realm.user.oneLine, realm.platform,
                Printing.age(ofUnixMilliseconds: realm.lastSeen), realm.hasUploaded ? "yes" : "no", "\(realm.behind)",
            ]
        }
        let table = Table(
            "CLIENT FILE", "PARTITION", "USER", "PLATFORM", "LAST SEEN", "UPLOADED", "BEHIND", rows: listed)
        Printing.line("\n" + table.rendered())
    }

    private static func text(_ within: UInt64?) -> String {
        switch within {
        case nil: "longer ago"
        case let seconds? where seconds < 3600: "within \(seconds / 60) min"
        case let seconds? where seconds <= 86_400: "within \(seconds / 3600) h"
        case let seconds?: "within \(seconds / 86_400) d"
        }
    }
}
