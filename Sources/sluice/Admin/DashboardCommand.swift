import AdminAPI
import ArgumentParser
import NIOHTTP1

struct DashboardCommand: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Print a link to the coordinator's dashboard that logs in once.",
        discussion: """
            The link is good for ten minutes and for one browser, which then has the rights of your admin token for \
            twelve hours. It begins with coordinator.public_url, else with where the admin API was asked. The \
            coordinator that was asked serves the dashboard at its address, and takes an admin token there, too.
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The page to begin with, such as campaigns or slices/5.") var page: String?

    func run(_ admin: AdminClient) async throws {
        let made: LoginLinkDocument = try await admin.ask(AdminRoute.sessionLink.path(), .POST, body: EmptyRequest())
        var link = made.origin ?? admin.baseURL
        while link.hasSuffix("/") { link.removeLast() }
        link += made.path + (page.map { "/\($0)" } ?? "")
        try output.show(["link": link], link)
    }
}
