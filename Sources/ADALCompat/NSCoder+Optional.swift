internal import Foundation

extension NSCoder {
    /// The object archived under `key`; nil when there is none or it is something else.
    ///
    /// Asks first: swift-corelibs-foundation traps on a key that is not there.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    /// The string archived under `key`; nil when there is none.
    func text(forKey key: String) -> String? {
        object(NSString.self, forKey: key).map { $0 as String }
    }
}
