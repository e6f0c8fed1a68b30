import AdminAPI
import Foundation
import Hummingbird
import Messages
import Storage

/// `apps/{app}/logins`: the ways to log in that are settings of their own.
struct LoginRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .logins) { _, route in try await list(route.value(of: .app)) }
        group.answer(.put, .login) { request, route in
            let (app, provider) = try (route.value(of: .app), provider(route))
            try await context.store.setLoginSettings(
                try await settings(of: provider, in: request), app: app, provider: provider.rawValue)
            return try await list(app)
        }
        group.answer(.delete, .login) { _, route in
            let app = try route.value(of: .app)
            try await context.store.setLoginSettings(nil, app: app, provider: try provider(route).rawValue)
            return try await list(app)
        }
    }

    private func provider(_ route: AdminRequestContext) throws -> LoginProvider {
        let text = try route.value(of: .provider)
        guard let provider = LoginProvider(rawValue: text) else {
            let known = LoginProvider.allCases.map(\.rawValue).joined(separator: ", ")
            throw AdminError.notFound("way to log in called \(text.prefix(64)); expected one of \(known)")
        }
        return provider
    }

    private func settings(of provider: LoginProvider, in request: Request) async throws -> Data {
        switch provider {
        case .apiKey: return try JSONEncoder.message.encode(try await AdminRequest.body(EmptyRequest.self, of: request))
        case .customToken:
            let settings = try await AdminRequest.body(TokenLoginSettings.self, of: request)
            if let problem = settings.problem { throw AdminError.invalid(problem) }
            return try JSONEncoder.message.encode(settings)
        case .emailPassword:
            let settings = try await AdminRequest.body(EmailLoginSettings.self, of: request)
            if let problem = settings.problem { throw AdminError.invalid(problem) }
            return try JSONEncoder.message.encode(settings)
        }
    }

    private func list(_ app: String) async throws -> LoginList {
        _ = try await context.app(app)
        return try await context.logins(of: app)
    }
}

extension CoordinatorContext {
    /// The ways to log in that are settings of their own, without secrets.
    func logins(of app: String) async throws -> LoginList {
        let stored = try await store.loginSettings(app: app)
        return LoginList(
            apiKey: stored[LoginProvider.apiKey.rawValue] != nil,
            customToken: try stored[LoginProvider.customToken.rawValue].map {
                try JSONDecoder().decode(TokenLoginSettings.self, from: $0).withoutSecret
            },
            emailPassword: try stored[LoginProvider.emailPassword.rawValue].map {
                try JSONDecoder().decode(EmailLoginSettings.self, from: $0)
            })
    }
}

extension LoginList {
    /// Returns a sentence that says who can become a user of an app.
    func sentence(of app: AppRecord) -> String {
        var ways: [String] = []
        if app.anonymousLogin { ways.append("anybody, without an account") }
        if app.emailPasswordLogin {
            ways.append(
                emailPassword?.confirmURL == nil
                    ? "whoever registers with an e-mail address, which nobody confirms"
                    : "whoever registers with an e-mail address and confirms it")
        }
        if customToken != nil { ways.append("whoever another service gives a token") }
        return ways.isEmpty
            ? "nobody can become a user: all logins are off" : "a user is \(ways.joined(separator: ", or "))"
    }
}
