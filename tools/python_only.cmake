# Leaves out the C++ side of messages, for a project built against the ROS 2 wheels
# (CMAKE_PROJECT_TOP_LEVEL_INCLUDES).
#
# The environment's nodes are written in Python, which stands on the C messages; without those for
# C++ the build takes half the time. Generators enter a list when their package is found.
macro(_find_without_cpp_generators method)
  find_package(${ARGN} BYPASS_PROVIDER)
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER _find_without_cpp_generators SUPPORTED_METHODS FIND_PACKAGE)
