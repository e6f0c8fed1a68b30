import HTTPTypes
package import Hummingbird

extension HTTPRequest.Method {
    /// The methods that clients may try on a path that is there for other methods.
    fileprivate static let known: [HTTPRequest.Method] =
        [.get, .head, .post, .put, .patch, .delete, .options, .trace]
        + [HTTPRequest.Method(rawValue: "QUERY")].compactMap(\.self)
}

extension Router {
    /// Has requests refused whose path is there, but not for their method; else they would be told that the path is not there.
    /// To be called once, when all routes were added.
    ///
    /// - Parameters:
    ///   - answersHead: whether the router answers HEAD where it answers GET.
    ///   - refusal: is given the methods that the path has, as the header `Allow` lists them.
    package func refuseOtherMethods(
        answersHead: Bool, _ refusal: @escaping @Sendable (_ allowed: String) -> any Error
    ) {
        for routes in Dictionary(grouping: routes, by: { "\($0.path)" }).values {
            guard let path = routes.first?.path else { continue }
            var allowed = Set(routes.map(\.method))
            if answersHead, allowed.contains(.get) { allowed.insert(.head) }
            let names = allowed.map(\.rawValue).sorted().joined(separator: ", ")
            for method in HTTPRequest.Method.known where !allowed.contains(method) {
                on(path, method: method) { _, _ -> Response in throw refusal(names) }
            }
        }
    }
}
