# Repairs targets of the ROS 2 wheels and builds messages with less work, for a project built
# against them (CMAKE_PROJECT_INCLUDE).
#
# The exported *__rosidl_generator_py targets name include folders of the machine that built the
# wheels (its Python and numpy). CMake refuses targets whose include folders do not exist, so those
# are dropped; the build adds this machine's by itself. Deferred, so that every find_package ran.
if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
  function(_drop_missing_include_folders)
    get_property(targets DIRECTORY "${CMAKE_SOURCE_DIR}" PROPERTY IMPORTED_TARGETS)
    foreach(target IN LISTS targets)
      if(target MATCHES "__rosidl_generator_py$")
        get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
        set(existing "")
        foreach(folder IN LISTS folders)
          if(folder AND EXISTS "${folder}")
            list(APPEND existing "${folder}")
          endif()
        endforeach()
        set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
      endif()
    endforeach()
  endfunction()
  cmake_language(DEFER CALL _drop_missing_include_folders)

  # The serializers of all messages as one unit: the C++ headers that each of them includes take
  # longer to read than all that follows, a third of the whole build.
  function(_compile_serializers_as_one)
    set(serializers "${PROJECT_NAME}__rosidl_typesupport_fastrtps_c")
    if(TARGET "${serializers}")
      set_target_properties("${serializers}" PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endfunction()
  cmake_language(DEFER CALL _compile_serializers_as_one)
endif()
