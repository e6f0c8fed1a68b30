import DeviceSync
import Foundation
import LocalCluster
import SyncModel
import TestSupport
import Testing

/// The dashboard in a real browser, against a cluster of real processes.
@Suite(
    .needsBroker, .enabled(if: Browser.isAvailable, "needs chromium and chromium-driver"), .hangGuard,
    .serialized)
struct DashboardTests {
    static let markup = #"<img src=x onerror="document.title='owned'"><b>bold</b>"#

    /// Logs in at the page that the browser shows.
    private func logIn(_ browser: Browser, _ cluster: LocalCluster, at url: String? = nil, token: String? = nil)
        async throws
    {
        try await browser.open((url ?? cluster.coordinatorURL) + "/")
        try await browser.wait(for: "main", toSay: "Admin token")
        try await browser.type((token ?? cluster.environment["SLUICE_ADMIN_TOKEN"] ?? "") + "\u{e007}", into: "#token")
        try await browser.wait(for: "#nav", toSay: "Overview")
    }

    /// Looks for barriers, and keeps a picture where one is wanted: SLUICE_TEST_SCREENSHOTS names the folder.
    private func look(_ browser: Browser, _ name: String, isKept: Bool = true) async throws {
        for barrier in try await browser.barriers() { Issue.record("\(name): \(barrier)") }
        guard isKept, let folder = ProcessInfo.processInfo.environment["SLUICE_TEST_SCREENSHOTS"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await browser.screenshot().write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }

    @Test func aTerminationIsWatchedUntilItsEndAlsoOverTheLossOfCoordinators() async throws {
        try await withCluster { cluster in
            try await cluster.makeApp()
            let devices = [
                try await Device(cluster, partition: Self.markup),
                try await Device(cluster, mode: "discard", partition: Self.markup),
            ]
            for (number, device) in devices.enumerated() {
                try device.create("\(number)", name: Self.markup)
                try await device.upload()
                try await device.suspend()
            }
            // One address for two coordinators, as behind a service's name: requests go to both in turn.
            let second = FreePort.next()
            try await cluster.start("coordinator-2", "coordinator", "--port", "\(second)")
            let proxy = TCPProxy(targets: [.init(port: cluster.coordinatorPort), .init(port: second)])
            try await proxy.start()
            try await LocalCluster.retrying("the second coordinator serves pages") {
                guard try await cluster.shell("curl", ["-sf", "http://127.0.0.1:\(second)/"]).contains("Sluice") else {
                    throw LocalClusterError("it serves something else")
                }
            }
            try await Browser.with { browser in
                let address = "http://127.0.0.1:\(proxy.port)"
                try await browser.open(address + "/")
                try await browser.wait(for: "main", toSay: "Admin token")
                try await look(browser, "login")
                try await browser.type("wrong\u{e007}", into: "#token")
                try await browser.wait(for: "main", toSay: "this admin token is not known here")
                try await logIn(browser, cluster, at: address)
                try await browser.wait(for: "main", toSay: "All 4 slices served")
                try await browser.wait(for: "main", toSay: "Changesets")
                let campaign = try await cluster.operateJSON(
                    Termination.self, "sync", "terminate", cluster.app, "--yes", "--enable", "--reason", Self.markup
                ).campaign
                try await browser.wait(for: "main", toSay: "1 campaign running")
                try await browser.click("Campaigns", in: "#nav")
                try await browser.wait(for: "main", toSay: "not closed")
                try await browser.run("document.querySelector('#open').click()")
                try await browser.click(campaign, in: "main")
                try await browser.wait(for: "main .legend", toSay: "2 pending")
                // What users and operators write is text.
                try await browser.wait(for: "main", toSay: Self.markup)
                try devices[0].session.resume()
                try await browser.wait(for: "main .legend", toSay: "1 recovered")
                // The active coordinator dies, and the other one takes over: the page goes on.
                await cluster.kill("coordinator")
                try devices[1].session.resume()
                try await browser.wait(for: "main .legend") {
                    $0.contains("1 discarded") && $0.contains("0 pending")
                }
                try await browser.wait(for: "#lost") { $0.isEmpty }
                // So does that one; the page says so, and goes on by itself when there is one again.
                await cluster.kill("coordinator-2")
                try await browser.wait(for: "#lost", toSay: "The coordinator has not answered")
                try await cluster.startCoordinator()
                try await browser.wait(for: "#lost") { $0.isEmpty }
                try await browser.wait(for: "#health", toSay: "no campaign running")
                try await expectEqual(browser.run("return document.title").stringValue?.contains("Campaigns"), true)
                try await browser.wait(for: "main table", toSay: "discarded")
                try await look(browser, "campaign")
                try await checkExports(of: campaign, browser)
                try await browser.click("2", in: "main table")
                try await browser.wait(for: "main h1", toSay: "Client file 2")
                try await browser.wait(for: "main table", toSay: "recovered")
                try await look(browser, "client-file")
                try await expectEqual(browser.complaints(), [])
            }
            await proxy.stop()
        }
    }

    /// The files have the client realms that the filters let through.
    private func checkExports(of campaign: String, _ browser: Browser) async throws {
        try await browser.click("Export CSV", in: "main")
        let lines = try await browser.saved("\(campaign).csv").split(separator: "\r\n")
        expectTrue(lines.count == 3 && lines[0].hasPrefix("partition,clientFile,user,outcome"))
        try await browser.run(
            """
            const filter = document.querySelector('#outcome');
            filter.value = 'discarded';
            filter.dispatchEvent(new Event('change'));
            """)
        try await browser.wait(for: "main table") { !$0.contains("recovered") && $0.contains("discarded") }
        try await browser.click("Export JSON", in: "main")
        let json = try JSONParser.parse(Array(try await browser.saved("\(campaign).json").utf8))
        expectEqual(json.arrayValue?.map { $0.objectValue?["outcome"] }, [.string("discarded")])
        try await browser.run(
            """
            const filter = document.querySelector('#outcome');
            filter.value = '';
            filter.dispatchEvent(new Event('change'));
            """)
        try await browser.wait(for: "main table", toSay: "recovered")
    }

    @Test func aReaderMayOnlyLookAndMayDoSoOnAPhone() async throws {
        try await withCluster(slices: 64) { cluster in
            struct Made: Decodable { var token: String }
            try await cluster.makeApp()
            let device = try await Device(cluster, partition: Self.markup)
            try device.create("a")
            try await device.upload()
            let reader = try await cluster.operateJSON(Made.self, "admin", "tokens", "create", "ann", "--role", "read")
                .token
            try await Browser.with(isDark: true, isPhone: true) { browser in
                try await logIn(browser, cluster, token: reader)
                try await browser.wait(for: "#session", toSay: "ann · read")
                try await browser.wait(for: "main", toSay: "Oldest message")
                try await look(browser, "overview-phone")
                try await browser.click("Slices", in: "#nav")
                try await browser.wait(for: "main", toSay: "64 of 64 slices")
                // Only what is in sight is in the document.
                let rows =
                    try await browser.run("return document.querySelectorAll('tbody tr:not(.spacer)').length")
                    .integerValue ?? 0
                expectTrue(rows > 10 && rows < 64)
                try await browser.run("document.querySelector('.scroll').scrollTop = 1e6")
                try await browser.wait(for: "main table", toSay: "63")
                try await look(browser, "slices-phone")
                try await browser.click("63", in: "main table")
                try await browser.wait(for: "main h1", toSay: "Slice 63")
                try await browser.wait(for: "main", toSay: "worker-")
                try await look(browser, "slice-phone", isKept: false)
                // Each page, in the dark and as narrow as a phone.
                for (page, sign) in [
                    ("Campaigns", "No campaign yet"), ("Dead letters", "No dead letter"),
                    ("Tail", "Copies of messages"), ("Doctor", "well"), ("Audit", "tokens"),
                    ("Reference", "SluiceBrokerAway"), ("Processes", "worker-1"), ("Realms", "onerror"),
                ] {
                    try await browser.run(
                        """
                        [...document.querySelectorAll('#nav a')].find((link) => link.innerText === arguments[0]).click()
                        """, .string(page))
                    try await browser.wait(for: "main", toSay: sign)
                    // The page's name is in sight in the row of all.
                    let place = try await browser.run(
                        """
                        const box = document.querySelector('#nav a[aria-current]').getBoundingClientRect();
                        return box.left >= 0 && box.right <= innerWidth
                        """)
                    expectEqual(place, .bool(true), "\(page)")
                    try await look(browser, "\(page)-phone", isKept: false)
                }
                try await browser.click("\"<img", in: "main table")
                // Buttons are there, off, and say why; what users wrote is not shown.
                try await browser.wait(for: "main", toSay: "What users have written needs the role operate")
                try await look(browser, "realm-phone", isKept: false)
                try await browser.run("location.hash = '#/apps/' + arguments[0]", .string(cluster.app))
                try await browser.wait(
                    for: "main .actions", toSay: "needs the role operate; token ann has read")
                try await browser.click("Terminate sync", in: "main")
                let states = try await browser.run(
                    """
                    return [...document.querySelectorAll('main .actions button')].map((button) =>
                        `${button.getAttribute('aria-disabled')} ${document.getElementById(button.getAttribute('aria-describedby')).innerText}`)
                    """
                ).arrayValue?.compactMap(\.stringValue)
                expectTrue(states?.count == 3 && states?.allSatisfy { $0.hasPrefix("true needs the role") } == true)
                try await expectTrue(browser.text("dialog") == nil)
                try await look(browser, "app-phone")
                try await browser.click("Log out")
                try await browser.wait(for: "main", toSay: "Admin token")
                try await expectEqual(browser.complaints(), [])
            }
        }
    }

    @Test func aDeadLetterIsSentBackAndATerminationWantsTheAppsName() async throws {
        try await withCluster(slices: 1, settings: ["SLUICE_GRAFANA_URL": "https://grafana.example.net/"]) { cluster in
            try await cluster.makeApp()
            let device = try await Device(user: try await Device.user(of: cluster, byPassword: true))
            try device.create("a", name: Self.markup)
            try await device.upload()
            let late = "\(cluster.app)-late"
            try await bury(late, cluster)
            try await Browser.with { browser in
                // A link of the command line logs in once, and leads to a page.
                let link = try await cluster.operate("dashboard", "--page", "slices")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                try await browser.open(link)
                try await browser.wait(for: "main", toSay: "1 of 1 slice,")
                try await expectEqual(browser.run("return location.href").stringValue?.hasSuffix("/#/slices"), true)
                try await browser.click("0", in: "main table")
                try await browser.wait(for: "main") { $0.contains("store-nw") }
                try await expectEqual(
                    browser.text("main [aria-label='Busiest apps'] table")?.contains(cluster.app), true)
                try await look(browser, "slice")
                try await browser.click("Overview", in: "#nav")
                try await browser.wait(for: "main", toSay: "2 dead letters")
                // The plots come behind what is known at once.
                try await LocalCluster.retrying("a plot leads to its panel") {
                    let link = try await browser.run("return document.querySelector('.plot a')?.href ?? ''").stringValue
                    guard link == "https://grafana.example.net/d/sluice-slices?viewPanel=9" else {
                        throw LocalClusterError("it leads to \(link ?? "nowhere")")
                    }
                }
                try await lookAtPlots(browser)
                try await look(browser, "overview-first", isKept: false)
                try await browser.click("What to do", in: "main")
                try await browser.wait(for: "main", toSay: "SluiceDeadLetters")
                try await goByKeys(browser)
                try await sendBack(late, browser, cluster)
                try await terminate(browser, cluster)
                try await lookAround(device, browser, cluster)
                try await expectEqual(browser.complaints(), [])
            }
        }
    }

    /// Plots have axes, go as far back as is wanted, and tell the values of one moment.
    private func lookAtPlots(_ browser: Browser) async throws {
        // A point comes every ten seconds.
        try await LocalCluster.retrying("there are two points") {
            let most = try await browser.run("return document.querySelector('#moment').max").stringValue ?? ""
            guard Int(most) ?? 0 > 0 else { throw LocalClusterError("the last is \(most)") }
        }
        let axes =
            try await browser.run(
                """
                return [...document.querySelectorAll('.plot')].map((plot) => ['.plot-rows', '.plot-times'].map((axis) =>
                    [...plot.querySelectorAll(`${axis} span`)].map((mark) => mark.innerText).join('|')).join(' '))
                """
            ).arrayValue?.compactMap(\.stringValue) ?? []
        expectEqual(axes.count, 6)
        for axis in axes {
            expectTrue(axis.contains(/^[0-9.,]+\|[0-9.,]*\|0 \d\d:\d\dZ\|\d\d:\d\dZ\|\d\d:\d\dZ$/), "\(axis)")
        }
        let told = try await browser.run(
            """
            const slider = document.querySelector('#moment');
            slider.value = 0;
            slider.dispatchEvent(new Event('input'));
            const cursor = document.querySelector('.plot-cursor').getAttribute('x1');
            return `${document.querySelector('output').innerText} ${cursor >= 0} ${slider.getAttribute('aria-valuetext')}`
            """
        ).stringValue
        expectTrue(told?.contains(/^(\d\d:\d\d:\d\dZ) true \1$/) == true, "\(told ?? "")")
        let ranges = try await browser.run(
            """
            const range = document.querySelector('#range');
            range.value = '1440';
            range.dispatchEvent(new Event('change'));
            const { roundUp } = await import('/dashboard/plot.js');
            return [...range.options].map((option) => option.value).join() + ' '
                + [0, 0.3, 1, 7, 2100].map((value) => roundUp(value)).join() + ' ' + roundUp(0.3, true)
            """
        ).stringValue
        expectEqual(ranges, "10,30,60,1440 1,0.5,1,10,5000 1")
    }

    /// Leaves two dead letters: a changeset for an app that is not there yet, and something of an unknown type.
    private func bury(_ app: String, _ cluster: LocalCluster) async throws {
        for body in [
            #"{"type": "changeset", "id": "dog-7", "realm": {"app": "\#(app)", "partition": "x"}, "changesets": ["\#(changesetOfADog)"]}"#,
            #"{"type": "\#(Self.markup.replacing("\"", with: "'"))", "id": "bad-1"}"#,
        ] {
            _ = try await cluster.shell(
                "amqp-publish",
                [
                    "-u", try TestBroker.requireURL(), "-e", "\(cluster.prefix).slices", "-r", "0", "-C",
                    "application/json", "-p", "-b", body,
                ])
        }
    }

    /// The keyboard alone leads to the dead letters.
    private func goByKeys(_ browser: Browser) async throws {
        try await browser.run("location.reload()")
        try await browser.wait(for: "main", toSay: "SluiceDeadLetters")
        // The reference gives the focus to the alert that was asked for; a person begins at the top of the page.
        try await browser.run("location.hash = '#/'")
        try await browser.run("location.reload()")
        try await browser.wait(for: "main", toSay: "2 dead letters")
        try await browser.press("\u{e004}")
        try await expectEqual(browser.run("return document.activeElement.id").stringValue, "skip")
        try await browser.press("\u{e007}")
        try await expectEqual(browser.run("return document.activeElement.id").stringValue, "main")
        try await browser.run("document.querySelector('#nav a').focus()")
        for _ in 0..<6 { try await browser.press("\u{e004}") }
        try await expectEqual(browser.run("return document.activeElement.innerText").stringValue, "Dead letters (2)")
        try await browser.press("\u{e007}")
        try await browser.wait(for: "main h1", toSay: "Dead letters")
    }

    private func sendBack(_ late: String, _ browser: Browser, _ cluster: LocalCluster) async throws {
        try await browser.wait(for: "main table", toSay: late)
        try await browser.wait(for: "main", toSay: "2 of 2 letters shown")
        try await look(browser, "dead-letters")
        try await cluster.operate("apps", "create", late, "--rules", "open")
        try await browser.run(
            """
            [...document.querySelectorAll('main tbody tr')].find((row) => row.innerText.includes(arguments[0]))
                .querySelector('input').click()
            """, .string(late))
        try await browser.click("Send back", in: "main")
        try await browser.wait(for: "dialog", toSay: "Send 1 letter back")
        try await browser.press("\u{e00c}")
        try await LocalCluster.retrying("Escape closes the dialog") {
            guard try await browser.text("dialog") == nil else { throw LocalClusterError("it is open") }
        }
        try await browser.click("Send back", in: "main")
        try await browser.click("Send back", in: "dialog")
        try await browser.wait(for: "main", toSay: "1 letter sent back")
        try await browser.wait(for: "main table") { !$0.contains(late) }
        try await LocalCluster.retrying("the dog has come") {
            guard try await cluster.operate("realms", "list", "--app", late).contains("x") else {
                throw LocalClusterError("no realm")
            }
        }
        // The other one is looked at, and dropped.
        try await browser.run("document.querySelector('main tbody button').click()")
        try await browser.wait(for: "main", toSay: "bad-1")
        try await look(browser, "dead-letter", isKept: false)
        try await browser.run("document.querySelector('main tbody input').click()")
        try await browser.click("Drop", in: "main")
        try await browser.type("1\u{e007}", into: "dialog input:not([name])")
        try await browser.wait(for: "main", toSay: "1 letter dropped")
    }

    private func terminate(_ browser: Browser, _ cluster: LocalCluster) async throws {
        try await browser.click("Apps", in: "#nav")
        try await browser.click(cluster.app, in: "main table")
        try await browser.wait(for: "main", toSay: "Terminate sync")
        try await look(browser, "app")
        try await browser.click("Terminate sync", in: "main")
        try await browser.wait(
            for: "dialog", toSay: "1 client realm would reset, 0 B of unsynced work known to be at risk")
        let isOff = "return document.querySelector('dialog button[type=submit]').disabled"
        try await expectEqual(browser.run(isOff), .bool(true))
        try await browser.type("\(cluster.app)x", into: "dialog input:not([name])")
        try await expectEqual(browser.run(isOff), .bool(true))
        try await look(browser, "termination")
        try await browser.type("\u{e003}", into: "dialog input:not([name])")
        try await expectEqual(browser.run(isOff), .bool(false))
        try await browser.click("Terminate", in: "dialog")
        try await browser.wait(for: "main h1", toSay: "Campaign")
        try await browser.wait(for: "main .legend", toSay: "1 recovered")
    }

    private func lookAround(_ device: Device, _ browser: Browser, _ cluster: LocalCluster) async throws {
        for (link, sign, name) in [
            ("Realms", "store-nw", "realms"), ("Doctor", "well", "doctor"), ("Audit", "sync/terminate", "audit"),
            ("Campaigns", "termination", "campaigns"), ("Slices", "1 of 1 slice,", "slices"),
            ("Reference", "SluiceSliceWithoutOwner", "reference"),
        ] {
            try await browser.click(link, in: "#nav")
            try await browser.wait(for: "main", toSay: sign)
            try await look(browser, name)
        }
        for (link, sign) in [
            ("Admin API", "POST /api/admin/v1/apps"), ("Client API", "OpenAPI 3.1"), ("Messages", "AsyncAPI 3"),
        ] {
            try await browser.click(link, in: "main")
            try await browser.wait(for: "main", toSay: sign)
            try await look(browser, link, isKept: false)
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
        try await browser.wait(for: "main [aria-label=Objects]", toSay: "onerror")
        try await look(browser, "realm")
        try await shutOut(browser, cluster)
        // The functions of the pages, where they run.
        let words = try await browser.run(
            """
            const { size, span } = await import('/dashboard/format.js');
            return [size(999), size(40960), span(400), span(7200000), span(90000)].join('|')
            """
        ).stringValue
        expectEqual(words, "999 B|41 KB|0.4 s|2 h|90 s")
    }

    /// A user's page: it can be disabled there.
    private func shutOut(_ browser: Browser, _ cluster: LocalCluster) async throws {
        try await browser.run("location.hash = '#/apps/' + arguments[0]", .string(cluster.app))
        try await browser.wait(for: "main [aria-label=Users] table", toSay: "example.net")
        try await browser.run("document.querySelector('main [aria-label=Users] tbody a').click()")
        try await browser.wait(for: "main h1", toSay: "User ")
        try await browser.click("Disable", in: "main")
        try await browser.click("Disable", in: "dialog")
        try await browser.wait(for: "main", toSay: "The user is disabled.")
        try await browser.wait(for: "main .facts", toSay: "disabled")
        try await look(browser, "user", isKept: false)
        try await browser.click("Overview", in: "#nav")
        try await browser.wait(for: "main", toSay: "Oldest message")
        try await look(browser, "overview")
    }
}
