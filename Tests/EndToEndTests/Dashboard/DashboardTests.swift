import DeviceSync
import Foundation
import LocalCluster
import SyncModel
import TestSupport
import Testing

/// The dashboard in a real browser, against a cluster of real processes.
@Suite(
    .needsBroker, .enabled(if: Browser.isAvailable, "needs chromium and chromium-driver"), .timeLimit(.minutes(5)),
    .serialized)
struct DashboardTests {
    static let markup = #"<img src=x onerror="document.title='owned'"><b>bold</b>"#

    private func logIn(_ browser: Browser, _ cluster: LocalCluster, token: String? = nil) async throws {
        try await browser.open(cluster.coordinatorURL + "/")
        try await browser.wait(for: "main", toSay: "Admin token")
        try await browser.type((token ?? cluster.environment["SLUICE_ADMIN_TOKEN"] ?? "") + "\u{e007}", into: "#token")
        try await browser.wait(for: "#nav", toSay: "Overview")
    }

    /// Looks for barriers, and keeps a picture where one is wanted: SLUICE_TEST_SCREENSHOTS names the folder.
    private func look(_ browser: Browser, _ name: String) async throws {
        for barrier in try await browser.barriers() { Issue.record("\(name): \(barrier)") }
        guard let folder = ProcessInfo.processInfo.environment["SLUICE_TEST_SCREENSHOTS"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await browser.screenshot().write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }

    @Test func aTerminationIsWatchedUntilItsEndAlsoOverTheLossOfACoordinator() async throws {
        try await withCluster { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let devices = [
                try await Device(cluster, partition: Self.markup),
                try await Device(cluster, mode: "discard", partition: Self.markup),
            ]
            for (number, device) in devices.enumerated() {
                try device.create("\(number)")
                try await device.upload()
                try await device.suspend()
            }
            try await Browser.with { browser in
                try await browser.open(cluster.coordinatorURL + "/")
                try await browser.wait(for: "main", toSay: "Admin token")
                try await look(browser, "login")
                try await browser.type("wrong\u{e007}", into: "#token")
                try await browser.wait(for: "main", toSay: "this admin token is not known here")
                try await logIn(browser, cluster)
                try await browser.wait(for: "main", toSay: "All 4 slices served")
                try await browser.wait(for: "main", toSay: "Changesets")
                try await look(browser, "overview")
                let campaign = try await cluster.operateJSON(
                    ResetTests.Termination.self, "sync", "terminate", cluster.app, "--enable", "--reason", Self.markup
                ).campaign
                try await browser.wait(for: "main", toSay: "1 campaign running")
                try await browser.click("Campaigns", in: "#nav")
                try await browser.click(campaign, in: "main")
                try await browser.wait(for: "main .legend", toSay: "2 pending")
                // What users and operators write is text.
                try await browser.wait(for: "main", toSay: Self.markup)
                #expect(
                    try await browser.run("return document.querySelectorAll('main b, main table img').length")
                        .integerValue == 0)
                try devices[0].session.resume()
                try await browser.wait(for: "main .legend", toSay: "1 recovered")
                // The coordinator dies; its successor has the same address, as behind a service's name.
                await cluster.kill("coordinator")
                try await browser.wait(for: "#lost", toSay: "The coordinator has not answered")
                try devices[1].session.resume()
                try await cluster.startCoordinator()
                try await browser.wait(for: "main .legend", upTo: .seconds(120)) {
                    $0.contains("1 discarded") && $0.contains("0 pending")
                }
                try await browser.wait(for: "#lost") { $0.isEmpty }
                try await look(browser, "campaign")
                #expect(try await browser.run("return document.title").stringValue?.contains("Campaigns") == true)
                #expect(try await browser.complaints() == [])
            }
        }
    }

    @Test func slicesAreShownAndAReaderMayOnlyLook() async throws {
        try await withCluster(slices: 64) { cluster in
            struct Made: Decodable { var token: String }
            let reader = try await cluster.operateJSON(Made.self, "admin", "tokens", "create", "ann", "--role", "read")
                .token
            try await Browser.with(width: 412, height: 900, isDark: true) { browser in
                try await logIn(browser, cluster, token: reader)
                try await browser.wait(for: "#session", toSay: "ann · read")
                try await look(browser, "overview-phone")
                try await browser.click("Slices", in: "#nav")
                try await browser.wait(for: "main", toSay: "64 of 64 slices")
                // Only what is in sight is in the document.
                let rows =
                    try await browser.run("return document.querySelectorAll('tbody tr:not(.spacer)').length")
                    .integerValue ?? 0
                #expect(rows > 10 && rows < 64)
                try await browser.run("document.querySelector('.scroll').scrollTop = 1e6")
                try await browser.wait(for: "main table", toSay: "63")
                try await look(browser, "slices-phone")
                try await browser.click("63", in: "main table")
                try await browser.wait(for: "main h1", toSay: "Slice 63")
                try await browser.wait(for: "main", toSay: "worker-")
                try await browser.click("Log out")
                try await browser.wait(for: "main", toSay: "Admin token")
                #expect(try await browser.complaints() == [])
            }
        }
    }

    @Test func aDeadLetterIsSentBackAndATerminationWantsTheAppsName() async throws {
        try await withCluster(slices: 1) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let device = try await Device(cluster)
            try device.create("a")
            try await device.upload()
            let late = "\(cluster.app)-late"
            for body in [
                #"{"type": "changeset", "id": "dog-7", "realm": {"app": "\#(late)", "partition": "x"}, "changesets": ["\#(OperatorTests.dog)"]}"#,
                #"{"type": "\#(Self.markup.replacing("\"", with: "'"))", "id": "bad-1"}"#,
            ] {
                _ = try await cluster.shell(
                    "amqp-publish",
                    [
                        "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "0", "-C",
                        "application/json", "-p", "-b", body,
                    ])
            }
            try await Browser.with { browser in
                try await logIn(browser, cluster)
                try await browser.wait(for: "main", toSay: "2 dead letters")
                try await browser.click("Dead letters", in: "#nav")
                try await browser.wait(for: "main table", toSay: late)
                #expect(
                    try await browser.run("return document.querySelectorAll('main b, main table img').length")
                        .integerValue == 0)
                try await look(browser, "dead-letters")
                try await cluster.operate("apps", "create", late, "--rules", "open")
                try await browser.run(
                    """
                    [...document.querySelectorAll('main tbody tr')].find((row) => row.innerText.includes(arguments[0]))
                        .querySelector('input').click()
                    """, .string(late))
                try await browser.click("Send back", in: "main")
                try await browser.wait(for: "dialog", toSay: "Send 1 letter back")
                try await browser.click("Send back", in: "dialog")
                try await browser.wait(for: "main", toSay: "1 letter sent back")
                try await browser.wait(for: "main table") { !$0.contains(late) }
                try await LocalCluster.retrying("the dog has come") {
                    guard try await cluster.operate("realms", "list", "--app", late).contains("x") else {
                        throw LocalClusterError("no realm")
                    }
                }
                try await browser.click("Apps", in: "#nav")
                try await browser.click(cluster.app, in: "main table")
                try await browser.wait(for: "main", toSay: "Terminate sync")
                try await look(browser, "app")
                try await browser.click("Terminate sync", in: "main")
                try await browser.wait(for: "dialog", toSay: "1 client realm would reset")
                let isOff = "return document.querySelector('dialog button[type=submit]').disabled"
                #expect(try await browser.run(isOff) == .bool(true))
                try await browser.type("\(cluster.app)x", into: "dialog input:not([name])")
                #expect(try await browser.run(isOff) == .bool(true))
                try await look(browser, "termination")
                try await browser.type("\u{e003}", into: "dialog input:not([name])")
                #expect(try await browser.run(isOff) == .bool(false))
                try await browser.click("Terminate", in: "dialog")
                try await browser.wait(for: "main h1", toSay: "Campaign")
                try await browser.wait(for: "main .legend", toSay: "1 recovered", upTo: .seconds(120))
                for (link, sign, name) in [
                    ("Realms", "store-nw", "realms"), ("Doctor", "well", "doctor"),
                    ("Audit", "sync/terminate", "audit"),
                    ("Slices", "1 of 1 slices", "slices"), ("Reference", "SluiceSliceWithoutOwner", "reference"),
                ] {
                    try await browser.click(link, in: "#nav")
                    try await browser.wait(for: "main", toSay: sign)
                    try await look(browser, name)
                }
                try await browser.click("Tail", in: "#nav")
                // What passed before the stream was open is not shown.
                try await LocalCluster.retrying("a changeset passes") {
                    try device.create(UUID().uuidString)
                    try await device.upload()
                    guard try await browser.text("main table")?.contains("changeset") == true else {
                        throw LocalClusterError("none yet")
                    }
                }
                try await look(browser, "tail")
                try await browser.run(
                    "location.hash = '#/realms/' + arguments[0] + '/' + encodeURIComponent('\"store-nw\"')",
                    .string(cluster.app))
                try await browser.wait(for: "main", toSay: "Item (")
                try await browser.wait(for: "main", toSay: "thing")
                try await look(browser, "realm")
                // The functions of the pages, where they run.
                let csv = try await browser.run(
                    """
                    const { csv, span } = await import('/dashboard/format.js');
                    return [csv('a,"b"'), csv('=1+1'), csv(-1), csv(null), span(400), span(7200000), span(90000)].join('|')
                    """
                ).stringValue
                #expect(csv == #""a,""b"""|'=1+1|-1||0.4 s|2 h|90 s"#)
                #expect(try await browser.complaints() == [])
            }
        }
    }
}
