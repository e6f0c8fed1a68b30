import Foundation
package import Rules

/// Reads an exported App Services app from where an operator has it: its folder, or a zip file. Nothing is written, and links are
/// not followed.
package enum ExportReading {
    /// Bytes of an archive: it is read as a whole.
    static let maxArchiveBytes = 128 << 20

    /// - Parameter place: a folder, or a zip file.
    package static func files(at place: String) throws(ExportProblem) -> ExportFiles {
        // A link that the operator names is followed.
        switch try kind(of: URL(filePath: place).resolvingSymlinksInPath().path) {
        case .typeDirectory:
            var found = Found()
            try read(place, under: "", into: &found)
            return ExportFiles(found.files)
        case .typeRegular:
            return ExportFiles(
                try ZipArchive(try bytes(of: place, limit: maxArchiveBytes)).files(wanted: ExportFiles.isWanted))
        default: throw ExportProblem("neither a folder nor a zip file")
        }
    }

    private struct Found {
        var files: [String: [UInt8]] = [:]
        var bytes = 0
        /// Files and folders looked at.
        var entries = 0
    }

    private static func read(_ folder: String, under path: String, into found: inout Found) throws(ExportProblem) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw ExportProblem("\(path.isEmpty ? "the folder" : path) cannot be read")
        }
        for name in names.sorted() where !name.hasPrefix(".") {
            found.entries += 1
            guard found.entries <= ExportFiles.maxFiles else {
                throw ExportProblem("more than \(ExportFiles.maxFiles) files: is this the export's folder?")
            }
            let inner = path.isEmpty ? name : "\(path)/\(name)"
            guard ExportFiles.mayHold(inner) || ExportFiles.isWanted(inner) else { continue }
            switch try kind(of: "\(folder)/\(name)") {
            case .typeDirectory:
                if ExportFiles.mayHold(inner) { try read("\(folder)/\(name)", under: inner, into: &found) }
            case .typeRegular where ExportFiles.isWanted(inner):
                let bytes = try bytes(of: "\(folder)/\(name)", limit: ExportFiles.maxFileBytes)
                found.bytes += bytes.count
                guard found.bytes <= ExportFiles.maxBytes else {
                    throw ExportProblem("its files have more than \(ExportFiles.maxBytes) bytes")
                }
                found.files[inner] = bytes
            case .typeSymbolicLink:
                throw ExportProblem("\(inner) is a link, and links are not followed: copy what it leads to")
            default: continue
            }
        }
    }

    private static func kind(of place: String) throws(ExportProblem) -> FileAttributeType {
        do {
            guard let kind = try FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType else {
                return .typeUnknown
            }
            return kind
        } catch {
            throw ExportProblem("there is no such folder or file, or it cannot be read")
        }
    }

    private static func bytes(of file: String, limit: Int) throws(ExportProblem) -> [UInt8] {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(filePath: file))
            // One byte more than is allowed tells that there is too much.
            data = try handle.read(upToCount: limit + 1) ?? Data()
        } catch {
            throw ExportProblem("\(file) cannot be read")
        }
        guard data.count <= limit else { throw ExportProblem("\(file) has more than \(limit) bytes") }
        return [UInt8](data)
    }
}
