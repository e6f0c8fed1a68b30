import AdminAPI
import Hummingbird
import Storage

/// `keys`: the signing keys of tokens, without what they sign with.
struct KeyRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .keys) { _, _ in try await list() }
        group.on(.post, .rotateKeys) { request, _ in
            let body = try await AdminRequest.body(KeyRotationRequest.self, of: request)
            let kind: TokenKind? = try AdminRequest.value(body.purpose, called: "purpose")
            try await KeyRotation(context: context).rotate(kind.map { [$0] } ?? TokenKind.allCases)
            return try AdminResponse.json(try await list(), status: .created)
        }
    }

    private func list() async throws -> KeyList {
        let keys = try await context.store.signingKeys()
        return KeyList(
            keys: TokenKind.allCases.flatMap { kind in
                SigningKeyRing(kind, among: keys).lives.map { KeyDocument($0, verifiesUntil: $1) }
            })
    }
}
