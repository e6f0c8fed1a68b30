import CDashboard
import Crypto
import SyncModel

/// A file of the dashboard. All are in the binary: an installation has nothing to find and nothing to mislay.
package struct DashboardFile: Sendable {
    /// The file's name in `Sources/CDashboard/pages`.
    package let name: String
    package let contents: [UInt8]
    /// The media type.
    package let type: String
    /// The entity tag, quoted: another one for every content.
    package let tag: String

    package static let all: [DashboardFile] = {
        var files: [DashboardFile] = []
        var index = 0
        while let file = sluice_dashboard_file(index), let name = file.pointee.name, let bytes = file.pointee.bytes {
            files.append(
                DashboardFile(
                    name: String(cString: name),
                    contents: Array(UnsafeBufferPointer(start: bytes, count: file.pointee.count))))
            index += 1
        }
        return files
    }()

    private static let byPath: [String: DashboardFile] = Dictionary(
        all.map { ($0.name == "index.html" ? "/" : "/dashboard/\($0.name)", $0) },
        uniquingKeysWith: { first, _ in first })

    /// - Parameter path: of a request, without the query.
    package static func served(at path: String) -> DashboardFile? { byPath[path] }

    private init(name: String, contents: [UInt8]) {
        self.name = name
        self.contents = contents
        type =
            switch name.split(separator: ".").last {
            case "html": "text/html; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "svg": "image/svg+xml"
            case "json": "application/json"
            case "yaml": "text/plain; charset=utf-8"
            default: "application/octet-stream"
            }
        tag = "\"\(HexBytes(Array(SHA256.hash(data: contents).prefix(12))).hex)\""
    }
}
