public import Foundation

/// One HTTP request to the server. Bodies and headers may hold secrets: do not log them.
public struct NetworkRequest: Sendable {
    /// The method, upper case.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// Header fields.
    public var headers: [String: String]
    /// The body, empty for none.
    public var body: Data
    /// How long the whole exchange may take, in milliseconds.
    public var timeoutMS: UInt

    /// A request.
    public init(
        method: String, url: String, headers: [String: String] = [:], body: Data = Data(), timeoutMS: UInt = 60_000
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMS = timeoutMS
    }
}

/// The answer to a `NetworkRequest`.
public struct NetworkResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// Header fields, names in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: Data

    /// An answer.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// A transport of the app's HTTP calls; replace it to test without a network.
public protocol NetworkTransport: Sendable {
    /// Performs one request.
    /// - Throws: any error when no answer came; an answer of whatever status is returned.
    func send(_ request: NetworkRequest) async throws -> NetworkResponse
}
