import SyncModel

extension CampaignReport {
    /// Why the report can never be applied, whatever is stored.
    var problem: String? {
        let limit = UInt64(Int64.max)
        guard (1...200).contains(campaign?.utf8.count ?? 1) else { return "campaign: expected 1 to 200 bytes" }
        switch self {
        case .found(let report):
            guard report.slice.value >= 0, report.chunks >= 1, (0..<report.chunks).contains(report.chunk) else {
                return "chunk \(report.chunk) of \(report.chunks) of slice \(report.slice) cannot be"
            }
            guard report.generation <= limit, report.clientRealms.allSatisfy({ $0.clientFile.fitsTheWire }) else {
                return "a generation or client file ident is past 2^63"
            }
        case .notified(let report):
            guard report.clientFile.fitsTheWire, report.at <= limit else {
                return "the client file ident or the time is past 2^63"
            }
        case .outcome(let report):
            guard report.identOld.fitsTheWire, report.identNew?.fitsTheWire ?? true else {
                return "a client file ident is past 2^63"
            }
            guard report.at <= limit else { return "at: past 2^63" }
            guard report.attempt.utf8.count <= 200 else { return "attempt: expected at most 200 bytes" }
            guard report.confidence >= 0, report.confidence <= 1 else { return "confidence: expected 0 to 1" }
        }
        return nil
    }
}
