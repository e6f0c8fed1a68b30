import PostgreSQL
import Storage
import SyncModel

/// A lookup as statements, one for each kind of thing that it names: all are one pipeline, however much is named.
struct PostgresLookup {
    private(set) var pipeline = PostgresPipeline()
    /// What takes the statements' results, in their order.
    private var readers: [(PostgresRows, inout SliceFindings) throws(StoreError) -> Void] = []
    private let slice: Int64
    /// What is found of everything named as long as the database has nothing.
    private var nothing = SliceFindings()

    init(_ lookup: SliceLookup, slice: SliceNumber) {
        self.slice = Int64(slice.value)
        find(lookup.realms)
        findGenerations(lookup.appGenerations)
        findFiles(lookup.clientFiles)
        findCases(lookup.resetCases)
        findResets(lookup.users)
        findBases(lookup.bases)
        findObjects(lookup.objects)
        findHistory(lookup.history)
        findDigests(lookup.digests)
        findReciprocals(lookup.reciprocals)
        findMessages(lookup.messages)
        findReasons(lookup.reasons)
        findUsage(lookup.appUsage, lookup.userUsage)
    }

    func findings(_ answer: PostgresAnswer) throws(StoreError) -> SliceFindings {
        var found = nothing
        for (index, read) in readers.enumerated() { try read(answer[index], &found) }
        return found
    }

    private mutating func add(
        _ sql: String, _ values: PostgresValue...,
        read: @escaping (PostgresRows, inout SliceFindings) throws(StoreError) -> Void
    ) {
        pipeline.add(sql, [.int(slice)] + values)
        readers.append(read)
    }

    // MARK: By key

    private mutating func find(_ names: Set<RealmName>) {
        guard !names.isEmpty else { return }
        let names = Array(names)
        add(
            """
            SELECT \(RealmRecord.columns) , q.n FROM unnest($2) WITH ORDINALITY AS q (name_id, n)
            CROSS JOIN LATERAL (
                SELECT * FROM realms i WHERE i.slice = $1 AND i.name_id = q.name_id OFFSET 0) r
            """, .byteStrings(names.map(\.nameID))
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.realms[names[Int(row.int(RealmRecord.columnCount)) - 1]] = try RealmRecord(row) }
        }
    }

    private mutating func findGenerations(_ apps: Set<String>) {
        guard !apps.isEmpty else { return }
        let apps = Array(apps)
        add(
            """
            SELECT \(AppGenerationRecord.columns), q.n FROM unnest($2) WITH ORDINALITY AS q (app, n)
            CROSS JOIN LATERAL (
                SELECT * FROM app_generations a WHERE a.slice = $1 AND a.app = q.app ORDER BY a.generation DESC LIMIT 1) g
            """, .strings(apps)
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.appGenerations[apps[Int(row.int(4)) - 1]] = AppGenerationRecord(row) }
        }
    }

    private mutating func findFiles(_ keys: Set<ClientFileKey>) {
        guard !keys.isEmpty else { return }
        add(
            """
            SELECT \(ClientFileRecord.columns) FROM unnest($2, $3) AS q (realm, ident)
            CROSS JOIN LATERAL (
                SELECT * FROM client_files i WHERE i.slice = $1 AND i.realm = q.realm AND i.ident = q.ident OFFSET 0) f
            """, .ints(keys.map(\.realm.value)), .ints(keys.map(\.ident.stored))
        ) { (rows, found) throws(StoreError) in
            for row in rows {
                let file = try ClientFileRecord(row)
                found.clientFiles[file.key] = file
            }
        }
    }

    private mutating func findCases(_ keys: Set<ClientFileKey>) {
        guard !keys.isEmpty else { return }
        add(
            """
            SELECT \(ResetCaseRecord.columns) FROM unnest($2, $3) AS q (realm, ident)
            CROSS JOIN LATERAL (
                SELECT * FROM reset_cases i WHERE i.slice = $1 AND i.realm = q.realm AND i.ident_old = q.ident OFFSET 0) c
            """, .ints(keys.map(\.realm.value)), .ints(keys.map(\.ident.stored))
        ) { (rows, found) throws(StoreError) in
            for row in rows {
                let record = ResetCaseRecord(row)
                found.resetCases[record.key] = record
            }
        }
    }

    private mutating func findResets(_ users: Set<RealmUser>) {
        guard !users.isEmpty else { return }
        let users = Array(users)
        for user in users { nothing.users[user] = SliceFindings.UserResets() }
        let (realms, names) = (
            PostgresValue.ints(users.map(\.realm.value)), PostgresValue.strings(users.map(\.user))
        )
        add(
            """
            SELECT \(ResetCaseRecord.columns), q.n FROM unnest($2, $3) WITH ORDINALITY AS q (realm, "user", n)
            CROSS JOIN LATERAL (
                SELECT * FROM reset_cases i
                WHERE i.slice = $1 AND i.realm = q.realm AND md5(i."user") = md5(q."user") AND i."user" = q."user"
                    AND i.is_open ORDER BY i.ident_old DESC LIMIT \(SliceFindings.UserResets.limit)) c
            ORDER BY q.n, c.ident_old DESC
            """, realms, names
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.users[users[Int(row.int(6)) - 1]]?.openCases.append(ResetCaseRecord(row)) }
        }
        add(
            """
            SELECT \(ClientFileRecord.columns), q.n FROM unnest($2, $3) WITH ORDINALITY AS q (realm, "user", n)
            CROSS JOIN LATERAL (
                SELECT * FROM client_files i
                WHERE i.slice = $1 AND i.realm = q.realm AND md5(i."user") = md5(q."user") AND i."user" = q."user"
                    AND i.state IN ('resetRequired', 'live')
                    AND (i.state = 'resetRequired' OR i.generation < (
                        SELECT max(g.generation) FROM realms r JOIN app_generations g ON g.slice = $1 AND g.app = r.app
                        WHERE r.slice = $1 AND r.id = q.realm AND g.campaign IS NOT NULL))
                ORDER BY i.last_seen DESC, i.ident DESC LIMIT \(SliceFindings.UserResets.limit)) f
            ORDER BY q.n, f.last_seen DESC, f.ident DESC
            """, realms, names
        ) { (rows, found) throws(StoreError) in
            for row in rows {
                let user = users[Int(row.int(ClientFileRecord.columnCount)) - 1]
                found.users[user]?.waiting.append(try ClientFileRecord(row))
            }
        }
    }

    private mutating func findBases(_ realms: Set<RealmID>) {
        guard !realms.isEmpty else { return }
        for realm in realms { nothing.bases[realm] = [] }
        add(
            """
            SELECT \(BaseRecord.columns) FROM unnest($2) AS q (realm)
            CROSS JOIN LATERAL (
                SELECT * FROM bases i WHERE i.slice = $1 AND i.realm = q.realm OFFSET 0) b
            ORDER BY b.realm, b.version
            """, .ints(realms.map(\.value))
        ) { (rows, found) throws(StoreError) in
            for row in rows {
                let base = BaseRecord(row)
                found.bases[base.realm]?.append(base)
            }
        }
    }

    private mutating func findObjects(_ objects: [RealmID: [ObjectRow]]) {
        guard !objects.isEmpty else { return }
        for realm in objects.keys { nothing.objects[realm] = [:] }
        let wanted = objects.flatMap { realm, rows in rows.map { (realm: realm, row: $0) } }
        add(
            """
            SELECT q.n, o.body FROM unnest($2, $3, $4) WITH ORDINALITY AS q (realm, table_id, key_id, n)
            CROSS JOIN LATERAL (
                SELECT body FROM objects i
                WHERE i.slice = $1 AND i.realm = q.realm AND i.table_id = q.table_id AND i.key_id = q.key_id OFFSET 0) o
            """, .ints(wanted.map(\.realm.value)), .ints(wanted.map { Int64($0.row.table) }),
            .byteStrings(wanted.map { StoredKey($0.row.key).id })
        ) { (rows, found) throws(StoreError) in
            for row in rows {
                let (realm, object) = wanted[Int(row.int(0)) - 1]
                found.objects[realm]?[object] = row.bytes(1)
            }
        }
    }

    private mutating func findMessages(_ ids: Set<String>) {
        guard !ids.isEmpty else { return }
        let ids = Array(ids)
        add(
            """
            SELECT q.n FROM unnest($2) WITH ORDINALITY AS q (id, n)
            CROSS JOIN LATERAL (
                SELECT * FROM seen_messages i WHERE i.slice = $1 AND i.id = q.id OFFSET 0) m
            """, .strings(ids)
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.messages.insert(ids[Int(row.int(0)) - 1]) }
        }
    }

    private mutating func findReasons(_ campaigns: Set<String>) {
        guard !campaigns.isEmpty else { return }
        let campaigns = Array(campaigns)
        add(
            """
            SELECT q.n, c.reason FROM unnest($2) WITH ORDINALITY AS q (campaign, n)
            CROSS JOIN LATERAL (
                SELECT * FROM campaign_reasons i WHERE i.slice = $1 AND i.campaign = q.campaign OFFSET 0) c
            """, .strings(campaigns)
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.reasons[campaigns[Int(row.int(0)) - 1]] = row.string(1) }
        }
    }

    private mutating func findUsage(_ apps: Set<String>, _ users: Set<AppUser>) {
        if !apps.isEmpty {
            let apps = Array(apps)
            for app in apps { nothing.appUsage[app] = AppUsage() }
            add(
                """
                SELECT q.n, u.realms, u.client_files, u.bytes FROM unnest($2) WITH ORDINALITY AS q (app, n)
                CROSS JOIN LATERAL (
                    SELECT * FROM app_usage i WHERE i.slice = $1 AND i.app = q.app OFFSET 0) u
                """, .strings(apps)
            ) { (rows, found) throws(StoreError) in
                for row in rows {
                    found.appUsage[apps[Int(row.int(0)) - 1]] = AppUsage(
                        realms: Int(row.int(1)), clientFiles: Int(row.int(2)), bytes: Int(row.int(3)))
                }
            }
        }
        guard !users.isEmpty else { return }
        let users = Array(users)
        add(
            """
            SELECT q.n, u.realms, u.client_files, u.bytes, u.at
            FROM unnest($2, $3) WITH ORDINALITY AS q (app, user_key, n)
            CROSS JOIN LATERAL (
                SELECT * FROM user_usage i WHERE i.slice = $1 AND i.app = q.app AND i.user_key = q.user_key OFFSET 0) u
            """, .strings(users.map(\.app)), .byteStrings(users.map(\.userKey))
        ) { (rows, found) throws(StoreError) in
            for row in rows {
                found.userUsage[users[Int(row.int(0)) - 1]] = UserUsage(
                    amounts: UsageAmounts(realms: row.real(1), clientFiles: row.real(2), bytes: row.real(3)),
                    at: row.number(4))
            }
        }
    }
}

// MARK: - Histories

extension PostgresLookup {
    private static let historyPage = PostgresPage(
        table: "history", key: ("realm", "generation"), number: "version",
        columns: ["version", "salt", "origin", "client_version", "timestamp", "cumulative", "images", "event"],
        content: "changeset")

    private static let digestPage = PostgresPage(
        table: "history_digests", key: ("realm", "generation"), number: "through", columns: ["after", "through"],
        content: "body")

    private static let reciprocalPage = PostgresPage(
        table: "reciprocals", key: ("realm", "ident"), number: "version", columns: ["version"], content: "changeset")

    /// Versions that are named, each with the query that names it: $2 to $6.
    private static let namedVersions = """
        SELECT x.n, x.version, x.salt, x.origin, x.client_version, x.timestamp, x.cumulative,
            CASE WHEN x.omit THEN ''::bytea ELSE x.images END, x.event,
            CASE WHEN x.omit THEN ''::bytea ELSE x.changeset END
        FROM (
            SELECT q.n, q.omit, q.maximum, h.*,
                sum(CASE WHEN q.omit THEN 0 ELSE octet_length(h.changeset) END + \(HistoryQuery.overhead))
                    OVER (PARTITION BY q.n ORDER BY h.version)
                    - CASE WHEN q.omit THEN 0 ELSE octet_length(h.changeset) END - \(HistoryQuery.overhead) AS before
            FROM unnest($2, $3, $4, $5, $6, $7) AS q (n, realm, generation, named, maximum, omit)
            CROSS JOIN LATERAL (
                SELECT * FROM history i
                WHERE i.slice = $1 AND i.realm = q.realm AND i.generation = q.generation AND i.version = q.named OFFSET 0) h
        ) x
        WHERE x.before < x.maximum OR x.before = 0
        ORDER BY x.n, x.version
        """

    private mutating func findHistory(_ queries: [HistoryQuery]) {
        guard !queries.isEmpty else { return }
        var (ranges, rangeOwners): ([PostgresPage.Query], [Int]) = ([], [])
        var named: [(owner: Int, query: HistoryQuery, version: ServerVersion)] = []
        for (index, query) in queries.enumerated() {
            switch query.versions {
            case .range(let after, let through):
                rangeOwners.append(index)
                ranges.append(
                    .init(
                        key: (query.key.realm.value, query.key.series), after: after.stored, through: through.stored,
                        maxBytes: query.maxBytes, omitsContent: query.omitsChangesets))
            case .these(let versions): named += versions.map { (index, query, $0) }
            }
        }
        nothing.history = Array(repeating: [], count: queries.count)
        if !ranges.isEmpty {
            addPage(Self.historyPage, ranges) { pages, found in
                for (owner, rows) in zip(rangeOwners, pages) {
                    found.history[owner] = rows.map { HistoryRecord($0, at: 1) }
                }
            }
        }
        guard !named.isEmpty else { return }
        add(
            Self.namedVersions, .ints(named.map { Int64($0.owner) }), .ints(named.map(\.query.key.realm.value)),
            .ints(named.map(\.query.key.series)), .ints(named.map(\.version.stored)),
            .ints(named.map { Int64($0.query.maxBytes) }), .bools(named.map(\.query.omitsChangesets))
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.history[Int(row.int(0))].append(HistoryRecord(row, at: 1)) }
        }
    }

    private mutating func findDigests(_ queries: [DigestQuery]) {
        guard !queries.isEmpty else { return }
        nothing.digests = Array(repeating: [], count: queries.count)
        let pages = queries.map { query in
            PostgresPage.Query(
                key: (query.key.realm.value, query.key.series), after: query.after.stored, maxBytes: query.maxBytes)
        }
        addPage(Self.digestPage, pages) { pages, found in
            found.digests = zip(queries, pages).map { query, rows in
                rows.map {
                    HistoryDigest(key: query.key, after: $0.number(1), through: $0.number(2), body: $0.bytes(3))
                }
            }
        }
    }

    private mutating func findReciprocals(_ queries: [ReciprocalQuery]) {
        guard !queries.isEmpty else { return }
        var (later, laterOwners): ([PostgresPage.Query], [(index: Int, maxBytes: Int)]) = ([], [])
        var named: [(owner: Int, key: ClientFileKey, version: ServerVersion)] = []
        for (index, query) in queries.enumerated() {
            switch query.versions {
            case .after(let version, let maxBytes):
                laterOwners.append((index, maxBytes))
                // A byte more, so that too much is seen to be too much.
                let beyond = maxBytes == .max ? maxBytes : maxBytes + 1
                later.append(
                    .init(
                        key: (query.owner.realm.value, query.owner.ident.stored), after: version.stored,
                        maxBytes: beyond))
            case .these(let versions): named += versions.map { (index, query.owner, $0) }
            }
        }
        nothing.reciprocals = Array(repeating: [:], count: queries.count)
        if !later.isEmpty {
            addPage(Self.reciprocalPage, later) { pages, found in
                for (owner, rows) in zip(laterOwners, pages) {
                    let bytes = rows.reduce(0) { $0 + $1.byteCount(2) + HistoryQuery.overhead }
                    found.reciprocals[owner.index] =
                        bytes > owner.maxBytes
                        ? .none
                        : Dictionary(rows.map { ($0.number(1), $0.bytes(2)) }, uniquingKeysWith: { $1 })
                }
            }
        }
        guard !named.isEmpty else { return }
        add(
            """
            SELECT q.n, r.version, r.changeset FROM unnest($2, $3, $4, $5) AS q (n, realm, ident, named)
            CROSS JOIN LATERAL (
                SELECT * FROM reciprocals i
                WHERE i.slice = $1 AND i.realm = q.realm AND i.ident = q.ident AND i.version = q.named OFFSET 0) r
            """, .ints(named.map { Int64($0.owner) }), .ints(named.map(\.key.realm.value)),
            .ints(named.map(\.key.ident.stored)), .ints(named.map(\.version.stored))
        ) { (rows, found) throws(StoreError) in
            for row in rows { found.reciprocals[Int(row.int(0))]?[row.number(1)] = row.bytes(2) }
        }
    }

    private mutating func addPage(
        _ page: PostgresPage, _ queries: [PostgresPage.Query],
        read: @escaping ([[PostgresRow]], inout SliceFindings) -> Void
    ) {
        pipeline.add(page.sql, page.parameters(slice, queries))
        let count = queries.count
        readers.append { rows, found in read(PostgresPage.rows(rows, queries: count), &found) }
    }
}
