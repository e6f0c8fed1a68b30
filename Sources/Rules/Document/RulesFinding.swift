/// Something that is wrong with a rules document, or worth a second look, and where.
package struct RulesFinding: Codable, Sendable, Equatable {
    package enum Severity: String, Codable, Sendable {
        /// The document is refused.
        case error
        case warning
    }

    /// The kind of finding; docs/rules.md lists them.
    package enum Code: String, Codable, Sendable, CaseIterable {
        case syntax
        case repeatedKey = "repeated_key"
        case tooLarge = "too_large"
        case tooDeep = "too_deep"
        case tooManyFindings = "too_many_findings"
        case unknownKey = "unknown_key"
        case missingKey = "missing_key"
        case wrongType = "wrong_type"
        case badName = "bad_name"
        case duplicateName = "duplicate_name"
        case tooManyRoles = "too_many_roles"
        case notLiteral = "not_literal"
        case missingFilter = "missing_filter"
        case idInFields = "id_in_fields"
        case notQueryable = "not_queryable"
        case reservedWord = "reserved_word"
        case badQueryable = "bad_queryable"
        case unknownOperator = "unknown_operator"
        case forbiddenOperator = "forbidden_operator"
        case badOperand = "bad_operand"
        case unknownExpansion = "unknown_expansion"
        case forbiddenExpansion = "forbidden_expansion"
        case unknownValue = "unknown_value"
        case propertyOutsideObject = "property_outside_object"
        case function
        case unknownTemplate = "unknown_template"
        case badParameter = "bad_parameter"
        // Warnings.
        case noPartitionRules = "no_partition_rules"
        case noRoles = "no_roles"
        case unsetOpens = "unset_opens"
        case unconfirmedEmail = "unconfirmed_email"
        case literalUserID = "literal_user_id"
        case unreachableRole = "unreachable_role"
        case writeDenied = "write_denied"
        case missingProperty = "missing_property"
        case typeMismatch = "type_mismatch"

        package var severity: Severity {
            switch self {
            case .noPartitionRules, .noRoles, .unsetOpens, .unconfirmedEmail, .literalUserID, .unreachableRole,
                .writeDenied, .missingProperty, .typeMismatch:
                .warning
            default: .error
            }
        }
    }

    /// A JSON pointer.
    package var path: String
    package var code: Code
    package var message: String
    /// The advice; absent if the message says it.
    package var hint: String?
    package var severity: Severity

    init(_ code: Code, at path: JSONPointer, _ message: String, hint: String? = nil) {
        self.path = path.description
        self.code = code
        self.message = message
        self.hint = hint
        severity = code.severity
    }
}

/// What a check has found so far; bounded, whatever the document.
struct RulesFindings {
    /// The number of errors, and of warnings, that are kept at most.
    static let most = 100

    private(set) var errors: [RulesFinding] = []
    private(set) var warnings: [RulesFinding] = []

    mutating func add(_ code: RulesFinding.Code, at path: JSONPointer, _ message: String, hint: String? = nil) {
        let finding = RulesFinding(code, at: path, message, hint: hint)
        switch finding.severity {
        case .warning:
            if warnings.count < Self.most { warnings.append(finding) }
        case .error:
            if errors.count < Self.most {
                errors.append(finding)
            } else if errors.count == Self.most {
                errors.append(
                    RulesFinding(.tooManyFindings, at: .root, "only the first \(Self.most) errors are listed"))
            }
        }
    }
}
