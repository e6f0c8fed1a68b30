import Changesets
import SyncModel

// The records of the control store as rows of its tables: every engine has them by the same names and columns.

// MARK: - Accounts

extension UserRecord {
    package init(row: any ControlRow) throws {
        self.init(
            app: try row.text("app"), id: try row.text("id"),
            identities: try Identity.list(storedText: try row.text("identities")), email: try row.textIfAny("email"),
            isDisabled: try row.boolean("disabled"), createdAt: try row.unsigned("created_at"),
            customData: try row.textIfAny("custom_data"))
    }
}

extension PasswordRecord {
    package init(row: any ControlRow) throws {
        self.init(
            app: try row.text("app"), email: try row.text("email"), spelling: try row.textIfAny("spelling"),
            passwordHash: try row.text("hash"), userID: try row.textIfAny("user"), pending: try row.textIfAny("pending")
        )
    }
}

extension LoginSessionRecord {
    package init(row: any ControlRow) throws {
        self.init(
            id: try row.text("id"), app: try row.text("app"), userID: try row.text("user"),
            deviceID: try row.text("device"), createdAt: try row.unsigned("created_at"),
            lastUsedAt: try row.unsigned("last_used_at"), expiresAt: try row.unsigned("expires_at"),
            isRevoked: try row.boolean("revoked"), origin: try row.textIfAny("origin"))
    }
}

extension SigningKeyRecord {
    package init(row: any ControlRow) throws {
        self.init(
            id: try row.text("id"), purpose: try row.text("purpose"), privateKeyPEM: try row.text("pem"),
            createdAt: try row.unsigned("created_at"))
    }
}

extension MailTokenRecord {
    /// Nil for a purpose that this version does not know.
    package init?(row: any ControlRow) throws {
        guard let purpose = Purpose(rawValue: try row.text("purpose")) else { return nil }
        self.init(
            id: try row.text("id"), app: try row.text("app"), email: try row.text("email"), purpose: purpose,
            digest: try row.text("digest"), passwordHash: try row.textIfAny("hash"),
            expiresAt: try row.unsigned("expires_at"))
    }
}

extension APIKeyRecord {
    package init(row: any ControlRow) throws {
        self.init(
            id: try row.text("id"), app: try row.text("app"), userID: try row.text("user"), name: try row.text("name"),
            digest: try row.text("digest"), isDisabled: try row.boolean("disabled"),
            createdAt: try row.unsigned("created_at"))
    }
}

extension ExternalIdentity {
    package init(row: any ControlRow) throws {
        self.init(
            app: try row.text("app"), provider: try row.text("provider"), externalID: try row.text("external_id"),
            userID: try row.text("user"), profile: try Self.profile(storedText: try row.text("profile")))
    }
}

// MARK: - Admins

/// A role that this version does not know may do least.
private func role(_ row: any ControlRow) throws -> AdminRole { AdminRole(rawValue: try row.text("role")) ?? .read }

extension AdminTokenRecord {
    package init(row: any ControlRow) throws {
        self.init(
            name: try row.text("name"), digest: try row.text("digest"), role: try Storage.role(row),
            createdAt: try row.unsigned("created_at"), createdBy: try row.text("created_by"))
    }
}

extension AuditEntry {
    package init(row: any ControlRow) throws {
        self.init(
            number: Int64(try row.integer("number")), at: try row.unsigned("at"), token: try row.text("token"),
            role: try Storage.role(row), method: try row.text("method"), path: try row.text("path"),
            details: try row.textIfAny("details"), status: try row.integerIfAny("status"),
            address: try row.textIfAny("address"), dryRun: try row.boolean("dry_run") ? true : nil)
    }
}

// MARK: - Apps

extension AppRecord {
    package static let columns = """
        id, sync_mode, sync_state, development_mode, client_recovery, max_offline_days, generation, anonymous_login,
        email_password_login, created_at, compatibility, on_read_denied, on_write_denied, rules_version, users_version,
        quotas, schema_version, client_schemas, migration, schema_versions, change_feed
        """
    package static let places = (1...21).map { "$\($0)" }.joined(separator: ", ")

    /// Returns the values of the columns, in their order.
    package func values() throws -> [ControlValue] {
        [
            .text(id), .text(syncMode.rawValue), .text(syncState.rawValue), .boolean(developmentMode),
            .boolean(clientRecovery), .count(maxOfflineDays), .number(generation), .boolean(anonymousLogin),
            .boolean(emailPasswordLogin), .number(createdAt), .text(compatibility.rawValue),
            .text(onReadDenied.rawValue), .text(onWriteDenied.rawValue), .number(rulesVersion), .number(usersVersion),
            .text(try quotas.storedText()), .number(schemaVersion), .text(try clientSchemas?.storedText()),
            .text(try migration?.storedText()), .text(try schemas?.storedText()),
            .text(changeFeed == ChangeFeedSetting() ? nil : try changeFeed.storedText()),
        ]
    }

    package init(row: any ControlRow) throws {
        func value<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
            let text = try row.text(column)
            guard let value = Value(rawValue: text) else {
                throw StoreError(.corrupt, "an app's \(column) is stored as \(text.prefix(40)), which no version knows")
            }
            return value
        }
        self.init(
            id: try row.text("id"), syncMode: try value("sync_mode"), syncState: try value("sync_state"),
            compatibility: try value("compatibility"), developmentMode: try row.boolean("development_mode"),
            clientRecovery: try row.boolean("client_recovery"), maxOfflineDays: try row.integer("max_offline_days"),
            generation: try row.unsigned("generation"), anonymousLogin: try row.boolean("anonymous_login"),
            emailPasswordLogin: try row.boolean("email_password_login"), onReadDenied: try value("on_read_denied"),
            onWriteDenied: try value("on_write_denied"), rulesVersion: try row.unsigned("rules_version"),
            usersVersion: try row.unsigned("users_version"), schemaVersion: try row.unsigned("schema_version"),
            clientSchemas: try row.textIfAny("client_schemas").map(SchemaVersionRange.init(storedText:)),
            schemas: try row.textIfAny("schema_versions").map(SchemaVersions.init(storedText:)),
            migration: try row.textIfAny("migration").map(ModeMigration.init(storedText:)),
            changeFeed: try row.textIfAny("change_feed").map(ChangeFeedSetting.init(storedText:))
                ?? ChangeFeedSetting(),
            quotas: try QuotaValues(storedText: try row.text("quotas")), createdAt: try row.unsigned("created_at"))
    }
}

extension RulesRecord {
    package init(row: any ControlRow) throws {
        self.init(
            app: try row.text("app"), version: try row.unsigned("version"), document: try row.bytes("document"),
            author: try row.text("author"), at: try row.unsigned("at"))
    }
}

extension RulesHeading {
    package init(row: any ControlRow) throws {
        self.init(
            version: try row.unsigned("version"), author: try row.text("author"), at: try row.unsigned("at"),
            bytes: try row.integer("bytes"))
    }
}

extension SchemaElement {
    package init(row: any ControlRow) throws {
        let property = try row.text("property")
        self.init(
            className: try row.text("class"), property: property.isEmpty ? nil : property, type: try row.text("type"))
    }
}

extension AppDeletionRecord {
    /// What belongs to an app, with the columns of each table's key. Entries of campaigns come before the campaigns, which they
    /// are found by.
    package static let tablesOfApps = [
        ("login_sessions", "id"), ("users", "app, id"), ("passwords", "app, email"), ("mail_tokens", "id"),
        ("api_keys", "id"), ("external_identities", "app, provider, external_id"), ("login_settings", "app, provider"),
        ("user_changes", "app, version"), ("app_rules", "app, version"),
        ("app_schema", "app, class, property, type"),
        ("campaign_realms", "campaign, partition, client_file"), ("parked_outcomes", "number"),
    ]

    package init(row: any ControlRow) throws {
        self.init(
            app: try row.text("app"), by: try row.text("deleted_by"), at: try row.unsigned("at"),
            slices: try row.integer("slices"), slicesDone: try row.integer("slices_done"),
            realms: try row.integer("erased"), realmsLeft: try row.integer("remaining"),
            finishedAt: try row.unsignedIfAny("finished_at"))
    }
}

// MARK: - Campaigns

extension CampaignRecord {
    package init(row: any ControlRow) throws {
        let (kind, state) = (try row.text("kind"), try row.text("state"))
        guard let kind = Kind(rawValue: kind), let state = State(rawValue: state) else {
            throw StoreError(
                .corrupt, "a campaign is stored as a \(kind.prefix(40)), \(state.prefix(40)), which no version knows")
        }
        self.init(
            id: try row.text("id"), app: try row.text("app"), kind: kind, reason: try row.textIfAny("reason"),
            partition: try row.textIfAny("partition"),
            clientFile: try row.unsignedIfAny("client_file").map { FileIdent($0) },
            startedAt: try row.unsigned("started_at"), generation: try row.unsigned("generation"), state: state,
            slicesExpected: try row.integer("slices_expected"), slicesReported: try row.integer("slices_reported"),
            closedAt: try row.unsignedIfAny("closed_at"))
    }

    /// Inserts a campaign, or stores anew what changes of it.
    package static let putting = """
        INSERT INTO campaigns (id, app, kind, reason, partition, client_file, started_at, generation, state,
            slices_expected, slices_reported, closed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, state = excluded.state,
            slices_reported = excluded.slices_reported, closed_at = excluded.closed_at
        """

    /// The parameters of `putting`.
    package var values: [ControlValue] {
        [
            .text(id), .text(app), .text(kind.rawValue), .text(reason), .text(partition), .number(clientFile),
            .number(startedAt), .number(generation), .text(state.rawValue), .count(slicesExpected),
            .count(slicesReported), .number(closedAt),
        ]
    }
}

extension CampaignEntry {
    package init(row: any ControlRow) throws {
        self.init(
            app: try row.text("app"), slice: try row.integerIfAny("slice").map { SliceNumber($0) },
            clientRealm: try CampaignClientRealm(row: row))
        isUnproven = try row.boolean("unproven")
    }
}

extension CampaignClientRealm {
    package init(row: any ControlRow) throws {
        self.init(
            campaign: try row.text("campaign"), partition: try row.text("partition"),
            clientFile: FileIdent(try row.unsigned("client_file")), user: try row.text("user"),
            lastSeen: try row.unsigned("last_seen"), foundAt: try row.unsignedIfAny("found_at"),
            notifiedAt: try row.unsignedIfAny("notified_at"),
            outcome: OutcomeClass(rawValue: try row.text("outcome")) ?? .pending,
            supersededBy: try row.textIfAny("superseded_by"), reason: try row.textIfAny("reason"),
            report: try row.textIfAny("report").map(OutcomeReport.init(storedText:)),
            updatedAt: try row.unsigned("updated_at"))
    }

    /// The reason as it is stored.
    package var storedReason: String? { reason.map { String($0.prefix(Self.maxReason)) } }
}

extension CampaignCounts {
    /// - Parameter rows: how many client realms a campaign has `found` with an outcome, how many of them were `notified`, and how
    ///   many are `unproven`.
    package static func byCampaign(
        _ rows: [any ControlRow], of campaigns: some Sequence<String>
    ) throws -> [String: CampaignCounts] {
        let none = campaigns.map { ($0, CampaignCounts()) }
        return try rows.reduce(into: Dictionary(none) { first, _ in first }) { counts, row in
            counts[try row.text("campaign")]?.add(
                try row.integer("found"), OutcomeClass(rawValue: try row.text("outcome")) ?? .pending,
                notified: try row.integer("notified"), unproven: try row.integer("unproven"))
        }
    }
}

extension CampaignFindings {
    /// Takes a row of `campaigns` in.
    package mutating func add(campaign row: any ControlRow) throws {
        let campaign = try CampaignRecord(row: row)
        campaigns[campaign.id] = campaign
        standings[campaign.id] = (number: Int64(try row.integer("number")), generation: campaign.generation)
    }

    /// Takes a row of `campaign_realms` in, with number and generation of its campaign if that is recorded.
    package mutating func add(entry row: any ControlRow) throws {
        let entry = try CampaignEntry(row: row)
        entries[entry.key, default: []].append(entry)
        guard let number = try row.integerIfAny("number") else { return }
        standings[entry.clientRealm.campaign] = (Int64(number), try row.unsigned("generation"))
    }
}

extension CampaignSlice {
    /// - Parameters:
    ///   - found: of each slice, how many client realms it has `found`.
    ///   - reports: in how many `chunks` a slice reports, and how many were `reported`, by slice. A slice that changed hands may have
    ///     counted twice, in other chunks: the first count stands.
    package static func list(found: [any ControlRow], reports: [any ControlRow]) throws -> [CampaignSlice] {
        let found = try found.reduce(into: [Int: Int]()) { $0[try $1.integer("slice")] = try $1.integer("found") }
        return try reports.reduce(into: []) { slices, row in
            let slice = try row.integer("slice")
            guard slices.last?.slice.value != slice else { return }
            slices.append(
                CampaignSlice(
                    slice: SliceNumber(slice), chunks: try row.integer("chunks"),
                    chunksReported: try row.integer("reported"), found: found[slice] ?? 0))
        }
    }
}
