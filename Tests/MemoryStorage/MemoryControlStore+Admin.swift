package import Storage

extension MemoryControlStore {
    package func insert(_ token: AdminTokenRecord) async throws(StoreError) {
        try change { content in
            guard content.adminTokens[token.name] == nil, content.adminTokens.count < AdminTokenRecord.most else {
                throw StoreError(.alreadyExists, "there is an admin token \(token.name) already, or too many")
            }
            content.adminTokens[token.name] = token
        }
    }

    package func adminToken(digest: String) async throws(StoreError) -> AdminTokenRecord? {
        content.adminTokens.values.first { $0.digest == digest }
    }

    package func adminTokens() async throws(StoreError) -> [AdminTokenRecord] {
        content.adminTokens.values.sorted { $0.name < $1.name }
    }

    package func removeAdminToken(_ name: String) async throws(StoreError) {
        try change { content in
            guard content.adminTokens.removeValue(forKey: name) != nil else {
                throw StoreError(.notFound, "there is no admin token \(name)")
            }
        }
    }

    package func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64 {
        try change { $0.note(entry, keeping: most) }
    }

    package func endAudit(
        _ number: Int64, status: Int, details: String?, isDryRun: Bool
    ) async throws(StoreError) {
        try change { content in
            guard let index = content.audit.firstIndex(where: { $0.number == number }) else { return }
            content.audit[index].status = status
            content.audit[index].details = details
            content.audit[index].dryRun = isDryRun ? true : nil
        }
    }

    package func auditEntries(before: Int64?, limit: Int) async throws(StoreError) -> [AuditEntry] {
        Array(content.audit.reversed().filter { $0.number < before ?? .max }.prefix(max(limit, 0)))
    }
}

extension MemoryControl {
    @discardableResult
    mutating func note(_ entry: AuditEntry, keeping most: Int) -> Int64 {
        var entry = entry
        entry.number = (audit.last?.number ?? 0) + 1
        audit = (audit + [entry]).suffix(most)
        return entry.number
    }
}
