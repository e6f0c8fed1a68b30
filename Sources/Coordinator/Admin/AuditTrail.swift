import AdminAPI
import HTTPTypes
import Hummingbird
import Logging
import Storage
import Synchronization

/// What is said of a request in the audit log beside its path; filled in while it is carried out.
final class AuditNotes: Sendable {
    /// The notes of the request that the task carries out.
    @TaskLocal static var current: AuditNotes?
    private static let maxText = 1000

    private let held: Mutex<(text: String?, isDryRun: Bool)>

    init(isDryRun: Bool = false) { held = Mutex((nil, isDryRun)) }

    var text: String? { held.withLock { $0.text } }
    /// Whether the request only asks what would be done: its entry must not read as if it had been.
    var isDryRun: Bool { held.withLock { $0.isDryRun } }

    func set(_ text: String) { held.withLock { $0.text = String(text.prefix(Self.maxText)) } }
    func setDryRun() { held.withLock { $0.isDryRun = true } }
}

/// Writes each request that is to change something into the audit log: before it is carried out, so that nothing is
/// changed unseen, and how it ended.
struct AuditTrail: Sendable {
    let store: any AdminStore
    let clock: WallClock
    let logger: Logger

    /// How many requests are kept.
    static let most = 10_000
    private static let maxPath = 500

    func noting(
        _ request: Request, of caller: AdminCaller, from address: String?, _ body: () async throws -> Response
    ) async throws -> Response {
        let isDryRun = AdminRequest.query(.dryRun, request) == "true"
        let path = String(request.uri.path.prefix(Self.maxPath))
        let number = try await store.beginAudit(
            AuditEntry(
                at: clock.now(), token: caller.token, role: caller.role, method: request.method.rawValue, path: path,
                address: address, dryRun: isDryRun ? true : nil),
            keeping: Self.most)
        let notes = AuditNotes(isDryRun: isDryRun)
        let result: Result<Response, any Error>
        do {
            result = .success(try await AuditNotes.$current.withValue(notes) { try await body() })
        } catch {
            result = .failure(error)
        }
        let status =
            switch result {
            case .success(let response): response.status.code
            case .failure(let error): AdminError(error).status.code
            }
        logger.notice(
            "admin request",
            metadata: [
                "token": "\(caller.token)", "method": "\(request.method.rawValue)", "path": "\(path)",
                "details": "\(notes.text ?? "")", "status": "\(status)", "address": "\(address ?? "")",
                "dry_run": "\(notes.isDryRun)",
            ])
        do {
            try await store.endAudit(number, status: status, details: notes.text, isDryRun: notes.isDryRun)
        } catch {
            logger.error("how an admin request ended is not in the audit log", metadata: ["error": "\(error)"])
        }
        return try result.get()
    }
}
