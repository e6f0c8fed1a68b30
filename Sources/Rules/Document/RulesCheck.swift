package import SyncModel

/// The outcome of a check of a rules document: everything that is wrong with it at once, and the document if nothing is.
package struct RulesCheck: Sendable {
    /// Errors first.
    package let findings: [RulesFinding]
    /// Nil if there are errors.
    package let document: RulesDocument?

    package var errors: [RulesFinding] { findings.filter { $0.severity == .error } }
    package var warnings: [RulesFinding] { findings.filter { $0.severity == .warning } }

    /// Checks a document's text: JSON, or a template's name in quotes.
    package init(_ bytes: [UInt8], schema: RulesSchema? = nil, app: RulesApp? = nil) {
        var findings = RulesFindings()
        var document: RulesDocument?
        if findings.admit(bytes: bytes.count) {
            do {
                document = Self.document(try JSONParser.parse(bytes), schema, app, &findings)
            } catch {
                switch error.reason {
                case .syntax: findings.add(.syntax, at: .root, "no JSON: \(error.message)")
                case .nesting:
                    findings.add(.tooDeep, at: .root, "nested too deep at byte \(error.offset)", hint: Self.flatten)
                case .repeatedKey:
                    findings.add(.repeatedKey, at: .root, "a key stands twice in its object: \(error.message)")
                }
            }
        }
        self.init(findings, document)
    }

    /// - Parameters:
    ///   - json: a document, or the name of a template.
    ///   - schema: what the app's clients have declared, to warn of what does not fit it.
    ///   - app: whose rules they are, to warn of what does not fit that; nil where nobody reads warnings.
    package init(_ json: JSONValue, schema: RulesSchema? = nil, app: RulesApp? = nil) {
        var findings = RulesFindings()
        let document = Self.document(json, schema, app, &findings)
        self.init(findings, document)
    }

    private init(_ findings: RulesFindings, _ document: RulesDocument?) {
        self.findings = findings.errors + findings.warnings
        self.document = findings.errors.isEmpty ? document : nil
    }

    private static func document(
        _ json: JSONValue, _ schema: RulesSchema?, _ app: RulesApp?, _ findings: inout RulesFindings
    ) -> RulesDocument? {
        if let path = tooDeep(json, at: .root, depth: 1) {
            findings.add(
                .tooDeep, at: path, "more than \(RulesLimits.depth) objects and lists within one another", hint: flatten
            )
            return nil
        }
        guard findings.admit(bytes: JSONWriter.bytes(of: json).count) else { return nil }
        var reader = RulesReader()
        guard let document = reader.document(json), reader.findings.errors.isEmpty else {
            findings = reader.findings
            return nil
        }
        findings = reader.findings
        RulesAdvice(document: document, schema: schema, app: app).add(to: &findings)
        return findings.admit(bytes: document.bytes.count) ? document : nil
    }

    private static let flatten = "nested $and and $or can be written as one list"

    /// The first place that is nested too deep; nil if there is none.
    private static func tooDeep(_ json: JSONValue, at path: JSONPointer, depth: Int) -> JSONPointer? {
        switch json {
        case .array(let elements):
            guard depth <= RulesLimits.depth else { return path }
            for (index, element) in elements.enumerated() {
                if let found = tooDeep(element, at: path.index(index), depth: depth + 1) { return found }
            }
        case .object(let members):
            guard depth <= RulesLimits.depth else { return path }
            for (key, value) in members {
                if let found = tooDeep(value, at: path.key(key), depth: depth + 1) { return found }
            }
        default: break
        }
        return nil
    }
}

extension RulesFindings {
    /// Notes a document that is too large, and says whether it is not.
    fileprivate mutating func admit(bytes: Int) -> Bool {
        guard bytes > RulesLimits.bytes else { return true }
        add(
            .tooLarge, at: .root, "the document has \(bytes) bytes; \(RulesLimits.bytes) are allowed",
            hint: "what differs from user to user belongs into custom data")
        return false
    }
}
