import AsyncHTTPClient
import Foundation
import LocalCluster
import NIOCore
import NIOHTTP1
import SyncModel

/// Debian's Chromium without a window, driven through ChromeDriver by the W3C's WebDriver protocol.
final class Browser: Sendable {
    /// Whether it is installed: `deploy/prerequisites chromium chromium-driver`.
    static let isAvailable =
        FileManager.default.isExecutableFile(atPath: driver) && FileManager.default.isExecutableFile(atPath: chromium)
    private static let driver = "/usr/bin/chromedriver"
    private static let chromium = "/usr/bin/chromium"

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let root: String
    private let session: String
    /// Where files go that the page has saved.
    let downloads: String

    private init(root: String, session: String, downloads: String) {
        self.root = root
        self.session = session
        self.downloads = downloads
    }

    /// Runs `body` with a browser of its own.
    /// - Parameter isPhone: with a phone's screen, whatever the width and the height.
    static func with(
        width: Int = 1280, height: Int = 900, isDark: Bool = false, isPhone: Bool = false,
        _ body: (Browser) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let port = FreePort.next()
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = folder
        let process = try await ManagedProcess.start(
            name: "chromedriver", executable: driver, arguments: ["--port=\(port)"], environment: environment,
            logFolder: folder)
        let root = "http://127.0.0.1:\(port)"
        let result: Result<Void, any Error>
        do {
            let browser = try await start(root, width, height, isDark, isPhone, folder)
            do { result = .success(try await body(browser)) } catch {
                let text = try? await browser.run("return document.body.innerText.slice(0, 1500)").stringValue
                result = .failure(Failure(description: "\(error)\n-- the page says\n\(text ?? "")"))
            }
            _ = try? await ask(root, "DELETE", "/session/\(browser.session)")
        } catch { result = .failure(error) }
        process.terminate()
        await process.wait(upTo: .seconds(10))
        try result.get()
    }

    private static func start(
        _ root: String, _ width: Int, _ height: Int, _ isDark: Bool, _ isPhone: Bool, _ folder: String
    ) async throws -> Browser {
        try await LocalCluster.retrying("ChromeDriver answers") {
            _ = try await ask(root, "GET", "/status")
        }
        let arguments =
            [
                // Containers have neither the kernel's rights for a sandbox nor much shared memory.
                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en",
                "--user-data-dir=\(folder)/profile", "--window-size=\(width),\(height)", "--hide-scrollbars",
                // Nothing is to go elsewhere.
                "--disable-background-networking", "--disable-component-update", "--no-first-run", "--disable-sync",
            ] + (isDark ? ["--force-dark-mode"] : [])
        let downloads = "\(folder)/downloads"
        var options: [String: JSONValue] = [
            "args": .array(arguments.map(JSONValue.string)), "binary": .string(chromium),
            "prefs": .object(["download.default_directory": .string(downloads)]),
        ]
        if isPhone {
            let screen: JSONValue = .object([
                "width": .integer(390), "height": .integer(844), "pixelRatio": .integer(2), "touch": .bool(false),
            ])
            options["mobileEmulation"] = .object(["deviceMetrics": screen])
        }
        let answer = try await ask(
            root, "POST", "/session",
            .object([
                "capabilities": .object([
                    "alwaysMatch": .object([
                        "browserName": .string("chrome"), "goog:chromeOptions": .object(options),
                        "goog:loggingPrefs": .object(["browser": .string("ALL")]),
                    ])
                ])
            ]))
        guard let session = answer.objectValue?["sessionId"]?.stringValue else {
            throw Failure(description: "ChromeDriver has opened no session: \(answer)")
        }
        return Browser(root: root, session: session, downloads: downloads)
    }

    private static func ask(_ root: String, _ method: String, _ path: String, _ body: JSONValue? = nil) async throws
        -> JSONValue
    {
        var request = HTTPClientRequest(url: root + path)
        request.method = .RAW(value: method)
        if let body { request.body = .bytes(try JSONEncoder().encode(body)) }
        request.headers.add(name: "Content-Type", value: "application/json")
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(2))
        let bytes = try await response.body.collect(upTo: 32 << 20)
        let json = try JSONParser.parse(Array(bytes.readableBytesView))
        let value = json.objectValue?["value"] ?? .null
        guard response.status == .ok else {
            throw Failure(
                description: "\(method) \(path): \(value.objectValue?["message"]?.stringValue?.prefix(600) ?? "")")
        }
        return value
    }

    // MARK: What a person does

    func open(_ url: String) async throws {
        _ = try await Self.ask(root, "POST", "/session/\(session)/url", .object(["url": .string(url)]))
    }

    /// Runs JavaScript in the page: a function's body, whose `arguments` are these.
    @discardableResult
    func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await Self.ask(
            root, "POST", "/session/\(session)/execute/sync",
            .object(["script": .string(script), "args": .array(arguments)]))
    }

    /// The text that a person sees in the first element of a selector; nil if there is none.
    func text(_ selector: String) async throws -> String? {
        try await run("return document.querySelector(arguments[0])?.innerText ?? null", .string(selector)).stringValue
    }

    /// Waits until the text of an element is so.
    @discardableResult
    func wait(
        for selector: String = "body", upTo limit: Duration = .seconds(300), until isSo: (String) -> Bool
    ) async throws -> String {
        try await LocalCluster.retrying("\(selector) is so", upTo: limit) {
            guard let text = try await text(selector) else { throw Failure(description: "there is no \(selector)") }
            guard isSo(text) else { throw Failure(description: "\(selector) says \(text.prefix(600))") }
            return text
        }
    }

    func wait(for selector: String = "body", toSay words: String, upTo limit: Duration = .seconds(300)) async throws {
        try await wait(for: selector, upTo: limit) { $0.contains(words) }
    }

    /// Clicks the first button or link whose text begins so; where it is covered or off, that is an error as it is for a person.
    func click(_ words: String, in place: String = "body") async throws {
        try await act(on: "\(words) in \(place)", "click", .object([:])) {
            try await run(
                """
                return [...document.querySelectorAll(arguments[1] + ' :is(button, a, [role=button])')]
                    .find((element) => element.innerText.trim().startsWith(arguments[0])) ?? null
                """, .string(words), .string(place))
        }
    }

    /// Types into the first element of a selector; `\u{e007}` is the Enter key.
    func type(_ text: String, into selector: String) async throws {
        try await act(on: selector, "value", .object(["text": .string(text)])) {
            try await run("return document.querySelector(arguments[0])", .string(selector))
        }
    }

    /// Waits for an element and does something to it.
    private func act(
        on name: String, _ action: String, _ body: JSONValue, find: () async throws -> JSONValue
    ) async throws {
        while true {
            let element = try await LocalCluster.retrying("there is \(name)") {
                guard let id = try await find().objectValue?.values.first?.stringValue else {
                    throw Failure(description: "there is no \(name)")
                }
                return id
            }
            do {
                _ = try await Self.ask(root, "POST", "/session/\(session)/element/\(element)/\(action)", body)
                return
            } catch let failure as Failure where failure.description.contains("stale element reference") {
                // The page was drawn anew between the two, and nothing has been done.
                continue
            }
        }
    }

    /// Presses keys one after the other, wherever the focus is; `\u{e004}` is Tab, `\u{e007}` Enter, `\u{e00c}` Escape.
    func press(_ keys: String...) async throws {
        let presses = keys.flatMap { key in
            ["keyDown", "keyUp"].map { JSONValue.object(["type": .string($0), "value": .string(key)]) }
        }
        _ = try await Self.ask(
            root, "POST", "/session/\(session)/actions",
            .object([
                "actions": .array([
                    .object(["type": .string("key"), "id": .string("keyboard"), "actions": .array(presses)])
                ])
            ]))
    }

    // MARK: What a test looks at

    /// What a file says that the page has saved.
    func saved(_ name: String) async throws -> String {
        try await LocalCluster.retrying("\(name) is saved") {
            try String(contentsOfFile: "\(downloads)/\(name)", encoding: .utf8)
        }
    }

    /// What the page has complained of: errors of scripts and breaches of the content policy.
    func complaints() async throws -> [String] {
        let log = try await Self.ask(
            root, "POST", "/session/\(session)/se/log", .object(["type": .string("browser")]))
        return (log.arrayValue ?? []).compactMap { entry in
            let text = entry.objectValue?["message"]?.stringValue ?? ""
            // A request that was refused or lost is logged by the browser itself; the page says so to the person.
            return text.contains("Failed to load resource") || text.contains("net::ERR_") ? nil : text
        }
    }

    /// A PNG of what is in the window.
    func screenshot() async throws -> Data {
        let answer = try await Self.ask(root, "GET", "/session/\(session)/screenshot")
        guard let text = answer.stringValue, let data = Data(base64Encoded: text) else {
            throw Failure(description: "the browser has made no picture")
        }
        return data
    }

    /// What is wrong with the page for those who cannot see it well, and what it has from elsewhere; empty if nothing is found.
    ///
    /// Each control and picture has a name, ids are unique and what they are referred to by is there, headings leave no level out,
    /// tables have heads, and text stands out from its ground by 4.5 to 1 (3 to 1 if it is large).
    func barriers() async throws -> [String] {
        let script = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "barriers.js"),
            encoding: .utf8)
        return (try await run(script).arrayValue ?? []).compactMap(\.stringValue)
    }
}
