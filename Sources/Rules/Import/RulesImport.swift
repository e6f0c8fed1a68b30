package import SyncModel

/// Rules made of an App Services export: checked, and on request with what cannot be kept turned into a denial.
package struct RulesImport: Sendable {
    /// The document, to be put in force; with errors left it is refused there.
    package private(set) var document: JSONValue
    /// The mistakes in the document, and warnings.
    package private(set) var findings: [RulesFinding]
    /// The rules that were turned into denials, by their places, each with the first finding that was the reason.
    package private(set) var denied: [RulesFinding] = []
    /// Notes on what was changed otherwise, and on what an operator should know, a sentence each.
    package private(set) var notes: [String]

    /// - Parameters:
    ///   - denyingIncompatible: a role or partition rule that cannot be enforced denies everybody whom it is asked for, instead of being
    ///     an error.
    ///   - listing: where the partition functions of the well-known tutorial decide, lists in users' custom data do.
    package init(_ export: ExportedRules, denyingIncompatible: Bool, listing: Bool = false) {
        let app = RulesApp(syncMode: export.mode ?? .flexible, emailsAreConfirmed: false)
        notes = export.notes
        document = export.document
        let lists = export.tutorialLists
        if listing {
            for (rule, list) in lists.sorted(by: { $0.key < $1.key }) {
                let lookup: JSONValue = .object(["%%user.custom_data.\(list)": "%%partition"])
                document = document.replacing(["partition", rule]) { _ in lookup } ?? document
                notes.append("\(rule): partitions are looked up in the list \(list) of users' custom data")
            }
        }
        findings = RulesCheck(document, app: app).findings
        shutClassesWithoutSchema(export.classesWithoutSchema, app)
        if denyingIncompatible {
            // Each time one place less is wrong.
            while let error = findings.first(where: { $0.severity == .error }), let place = Place(error.path),
                let denying = place.denying(in: document), denying != document
            {
                denied.append(error)
                document = denying
                findings = RulesCheck(document, app: app).findings
            }
        }
        for index in findings.indices where findings[index].code == .function {
            for (rule, list) in lists where findings[index].path.hasPrefix("/partition/\(rule)/") {
                findings[index].hint =
                    "the tutorial's function of this name looks the partition up in the user's list \(list): with --listed that list is"
                    + " one of custom data, as with template listed"
            }
        }
    }

    /// A class without a schema was never synced: rules for it that cannot be enforced let nobody in, and are no reason to refuse the
    /// others.
    private mutating func shutClassesWithoutSchema(_ names: Set<String>, _ app: RulesApp) {
        for name in names.sorted() {
            let path = JSONPointer.root.key("classes").key(name).description
            guard findings.contains(where: { $0.severity == .error && $0.path.hasPrefix(path + "/") }),
                let shut = document.replacing(["classes", name], { _ in .array([]) })
            else { continue }
            document = shut
            findings = RulesCheck(document, app: app).findings
            notes.append("class \(name.shown) had no schema, so nobody synced it: nobody may read or write it")
        }
    }

    package var isUsable: Bool { !findings.contains { $0.severity == .error } }
}

/// What can be denied by itself.
private struct Place {
    private enum Kind {
        case partition(key: String)
        case role(list: [String], index: Int)
    }

    private let kind: Kind
    /// Whether it is a role's condition that is wrong: then nobody knows whom the role is for.
    private let isAboutWhom: Bool

    /// The place that a finding's path leads into; nil if it is none of them.
    init?(_ path: String) {
        let steps = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
        isAboutWhom = steps.contains("apply_when")
        switch steps.first {
        case "partition" where steps.count > 1 && ["read", "write"].contains(steps[1]): kind = .partition(key: steps[1])
        case "defaultRoles":
            guard steps.count > 1, let index = Int(steps[1]) else { return nil }
            kind = .role(list: ["defaultRoles"], index: index)
        case "classes":
            guard steps.count > 2, let index = Int(steps[2]) else { return nil }
            kind = .role(list: ["classes", steps[1]], index: index)
        default: return nil
        }
    }

    /// The document with the place denying; nil if the place is not there.
    func denying(in document: JSONValue) -> JSONValue? {
        switch kind {
        case .partition(let key): document.replacing(["partition", key]) { _ in false }
        case .role(let list, let index):
            document.replacing(list) { roles in
                guard var elements = roles.arrayValue, elements.indices.contains(index) else { return nil }
                elements[index] = Self.denial(of: elements[index], forEverybody: isAboutWhom)
                return .array(elements)
            }
        }
    }

    /// A role that lets nobody do anything. Where it cannot be read whom the role is for, it is for everybody who comes to it.
    private static func denial(of role: JSONValue, forEverybody: Bool) -> JSONValue {
        let applyWhen = forEverybody ? nil : role.objectValue?["apply_when"]
        return [
            "name": role.objectValue?["name"] ?? "denied", "apply_when": applyWhen ?? .object([:]),
            "document_filters": ["read": false, "write": false], "read": false,
            "write": false, "insert": false, "delete": false, "search": false,
        ]
    }
}

extension JSONValue {
    /// The value with what stands at a path replaced; nil if nothing stands there, or there is nothing to replace it with.
    fileprivate func replacing(_ path: [String], _ change: (JSONValue) -> JSONValue?) -> JSONValue? {
        guard let first = path.first else { return change(self) }
        guard case .object(var members) = self,
            let changed = members[first]?.replacing(Array(path.dropFirst()), change)
        else { return nil }
        members[first] = changed
        return .object(members)
    }
}
