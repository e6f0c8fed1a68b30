import AdminAPI
import ArgumentParser
import Foundation
import NIOHTTP1
import Rules
import SyncModel

struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Say who may read and write what in an app.",
        subcommands: [
            RulesShow.self, RulesSet.self, RulesCheckCommand.self, RulesExplain.self, RulesHistory.self,
            RulesImportCommand.self,
        ])
}

/// Rules as a person gives them: a template's name, a file, or `-` for the standard input.
struct RulesArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) { text = argument }

    static let help =
        "\(RuleTemplates.names(of: .document).joined(separator: ", ")), a file (docs/rules.md), or - for standard input"

    func load() throws -> JSONValue {
        if RuleTemplates.names(of: .document).contains(text) { return .string(text) }
        let data: Data
        do {
            let input = text == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: text))
            // One byte more than is allowed tells that there is too much.
            data = try input.read(upToCount: RulesLimits.bytes + 1) ?? Data()
        } catch {
            let names = RuleTemplates.names(of: .document).joined(separator: ", ")
            throw CommandFailure(.badInput, "\(text): neither one of \(names) nor a file that can be read")
        }
        guard data.count <= RulesLimits.bytes else {
            throw CommandFailure(.badInput, "\(text): more than \(RulesLimits.bytes) bytes")
        }
        return try JSONValue(parsing: data, of: text)
    }
}

extension JSONValue {
    /// - Parameter place: where the text is from, for the error.
    /// - Throws: `badInput`.
    init(parsing text: Data, of place: String) throws {
        do {
            self = try JSONParser.parse([UInt8](text))
        } catch {
            throw CommandFailure(.badInput, "\(place): no JSON: \(error.message)")
        }
    }
}

/// Findings of a check, one a line.
enum FindingLines {
    static func text(of findings: [RulesFinding]) -> String {
        findings.map { finding in
            let place = finding.path.isEmpty ? "the document" : finding.path
            let hint = finding.hint.map { " (\($0))" } ?? ""
            return
                "\(finding.severity.rawValue)  \(place.oneLine): \(finding.message.oneLine)\(hint.oneLine)  [\(finding.code.rawValue)]"
        }
        .joined(separator: "\n")
    }
}

struct RulesShow: AdminCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show an app's rules.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "This version of them; the one in force if left out.") var version: UInt64?

    func run(_ admin: AdminClient) async throws {
        let path = version.map { AdminRoute.rulesVersion.path(app, "\($0)") } ?? AdminRoute.rules.path(app)
        let answer: RulesAnswer = try await admin.ask(path)
        if output.json { return try Printing.json(answer) }
        Printing.line("\(answer.app), version \(answer.version): \(answer.summary)")
        guard let rules = answer.rules else {
            return Printing.note("set some with: sluice rules set \(app) open")
        }
        let at = answer.at.map { Printing.time(ofUnixMilliseconds: $0) } ?? "-"
        Printing.line("set by \(answer.author ?? "-") at \(at)\n")
        Printing.line(String(decoding: try JSONEncoder.readable.encode(rules), as: UTF8.self))
    }
}

struct RulesSet: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Put rules in force, for open sessions as well.",
        discussion:
            "Nothing changes if anything is wrong with the rules, or if somebody else has changed them meanwhile.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Argument(help: ArgumentHelp(RulesArgument.help)) var rules: RulesArgument
    @Option(help: "The version that these replace; the one in force if left out.") var replaces: UInt64?

    func run(_ admin: AdminClient) async throws {
        let rules = try rules.load()
        var version = replaces
        if version == nil { version = try await (admin.ask(AdminRoute.rules.path(app)) as RulesAnswer).version }
        let answer: RulesAnswer = try await admin.ask(
            AdminRoute.rules.path(app), .PUT, body: RulesRequest(replaces: version ?? 0, rules: rules))
        if let findings = answer.findings, !findings.isEmpty, !output.json {
            Printing.note(FindingLines.text(of: findings))
        }
        try output.show(answer, "rules of \(answer.app), version \(answer.version): \(answer.summary)")
    }
}

struct RulesCheckCommand: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say everything that is wrong with rules, and change nothing.",
        discussion: "Ends with exit code 65 if they could not be put in force.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Argument(help: ArgumentHelp(RulesArgument.help)) var rules: RulesArgument

    func run(_ admin: AdminClient) async throws {
        let answer: RulesCheckAnswer = try await admin.ask(
            AdminRoute.rulesCheck.path(app), .POST, body: RulesCheckRequest(rules: try rules.load()))
        if output.json {
            try Printing.json(answer)
        } else {
            if !answer.findings.isEmpty { Printing.line(FindingLines.text(of: answer.findings)) }
            if let summary = answer.summary { Printing.line("valid: \(summary)") }
        }
        guard answer.valid else { throw CommandFailure(.badInput, "the rules cannot be put in force") }
    }
}

struct RulesExplain: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Say what a user may do, and how the rules come to it.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "The user's id.") var user: String
    @Option(help: "A partition value: a word, or extended JSON.") var partition: String?
    @Option(name: .customLong("class"), help: "A class, for flexible sync.") var className: String?

    func validate() throws {
        if partition == nil, className == nil { throw ValidationError("give --partition or --class") }
    }

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.rulesExplanation.path(
            app, query: [(.user, user), (.partition, partition), (.className, className)])
        let answer: RulesExplanation = try await admin.ask(path)
        if output.json { return try Printing.json(answer) }
        Printing.line("\(answer.app), version \(answer.version): \(answer.summary)")
        if answer.isDisabled {
            Printing.line("the account is disabled: the user cannot come in, whatever the rules say")
        }
        if let partition = answer.partition { show(partition) }
        if let role = answer.role { show(role) }
    }

    private func show(_ partition: PartitionExplanation) {
        let value = partition.partition.map { JSONWriter.text(of: $0) } ?? "(unreadable)"
        Printing.line("\npartition \(value.oneLine): \(partition.rights), for \(partition.reason)")
        for (name, trace) in [("write", partition.write), ("read", partition.read)] {
            if let trace { Printing.line(Self.lines(of: trace, name, indent: 1)) }
        }
    }

    private func show(_ role: RoleExplanation) {
        Printing.line(
            "\nclass \(role.className.oneLine): \(role.role.map { "role \($0.oneLine)" } ?? "no role"), for \(role.reason)"
        )
        for tried in role.tried {
            Printing.line(
                Self.lines(of: tried.applyWhen, "\(tried.role.oneLine) (\(tried.path.oneLine)) apply_when", indent: 1))
        }
    }

    private static func lines(of trace: RuleTrace, _ name: String, indent: Int) -> String {
        var sides = ""
        if trace.path != nil {
            func side(_ value: JSONValue?) -> String { value.map { JSONWriter.text(of: $0) } ?? "unset" }
            sides = "  [\(side(trace.subject).oneLine) against \(side(trace.operand).oneLine)]"
        }
        let label = name.isEmpty ? "" : "\(name): "
        let own =
            String(repeating: "  ", count: indent)
            + "\(label)\(trace.verdict.rawValue)  \(trace.condition.oneLine)\(sides)"
        return ([own] + (trace.parts ?? []).map { lines(of: $0, "", indent: indent + 1) }).joined(separator: "\n")
    }
}

struct RulesHistory: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the versions of an app's rules, newest first.",
        discussion: "Show one with `sluice rules show APP --version N`; the newest 100 are kept.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "At most so many.") var limit = 20
    @Option(help: "Only versions before this one.") var before: UInt64?

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.rulesVersions.path(
            app, query: [(.limit, "\(limit)"), (.after, before.map(String.init))])
        let list: RulesVersionList = try await admin.ask(path)
        try output.show(
            list.versions,
            Table(
                "VERSION", "SET AT", "BY", "BYTES",
                rows: list.versions.map {
                    ["\($0.version)", Printing.time(ofUnixMilliseconds: $0.at), $0.author.oneLine, "\($0.bytes)"]
                }))
    }
}
